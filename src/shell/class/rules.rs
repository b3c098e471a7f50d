//! Rules for commands by the words they begin with, and the decision that policy and rules come to.

use serde::{Deserialize, Serialize};

use super::kinds::named as listed;
use super::tables::{RUNNERS, base, named};
use super::{Assessment, Class, ClassifiedCommand, Reason, SearchedKeys};
use crate::shell::sandbox::Grant;
use crate::text::clean::clean_line;
use crate::text::quote;

/// Programs that run whatever they are given: a rule for one alone would allow everything.
const ANYTHING: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "fish", "env", "xargs", "find", "sudo", "doas", "su", "ssh", "docker",
    "podman", "eval", "exec", "command", "nice", "nohup", "time", "timeout", "watch", "flock",
];
/// More of them: shells, what starts a program in other surroundings, and what fetches one first.
const MORE_ANYTHING: &str = "\
    rbash mksh ash tcsh csh nu pwsh powershell elvish xonsh yash osh setpriv capsh chpst runuser pkexec hyperfine \
    setarch linux32 linux64 nix-shell pipx nsenter unshare mosh ld";
/// Interpreters and runners beside [`RUNNERS`]: without a script or a target of their own they run anything.
const INTERPRETERS: &str = "\
    pypy luajit julia Rscript R elixir iex erl groovy scala ocaml guile racket sbcl clisp tsx ts-node esno swipl ghci \
    runghc raku tclsh wish gnuplot octave m4 jshell bb ipython fd sqlite gmake bmake ninja rake mage yarn pnpm npm uv \
    poetry pdm conda mamba bundle pipenv hatch rye nix cmake go psql mysql";
/// Parts of programs that run another one, which follows.
const RUN_PARTS: &str = "\
npm: exec x
pnpm: dlx exec
yarn: dlx exec
bun: x run
go: run
rustup: run
uv: run x tool
uvx:
poetry: run shell
pdm: run
conda: run
mamba: run
pipenv: run shell
hatch: run
rye: run
bundle: exec
deno: run eval repl
nix: run shell develop
cmake: -P -E
composer: exec";
/// Parts of programs behind which a script is named: a rule without its name would allow every script.
const SCRIPT_PARTS: &str = "\
npm: run run-script
pnpm: run run-script
yarn: run
bun: run
deno: task
composer: run run-script";
/// Options before a script's name that take no value.
const SCRIPT_OPTIONS: &[&str] = &["-s", "--silent", "-q", "--quiet", "--if-present"];
/// Programs that run the package which is named behind them, and their options that take no value.
const PACKAGE_RUNNERS: &str = "npx bunx pnpx uvx";
const PACKAGE_OPTIONS: &[&str] = &["-y", "--yes", "--no", "--no-install", "--bun"];
/// Interpreters that read no option behind `-c` and its text, nor behind `-m` and a module.
const EVALUATORS: &str = "python pypy";
/// Modules of Python that run what is given to them.
const OPEN_MODULES: &str = "asyncio bdb cProfile code IPython idlelib pdb profile runpy timeit trace";
/// Examples of what a rule for an interpreter may name.
const SCRIPTS: &str = "\
python: tools/gen.py
pypy: tools/gen.py
node: tools/gen.js
tsx: tools/gen.ts
ruby: tools/gen.rb
perl: tools/gen.pl
npx: vitest
bunx: vitest
pnpx: vitest
uvx: ruff
make: test";
/// Interpreters whose next word may be a text to run.
const TEXT: &[&str] = &["-c", "-e", "-E", "-p", "-r", "-m", "--eval", "--print", "-i", "-"];

/// The decision of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleDecision {
    /// It runs without a question.
    Allow,
    /// The person is asked.
    Ask,
    /// It does not run.
    Refuse,
}

impl RuleDecision {
    /// Returns `allow`, `ask` or `refuse`.
    pub fn word(self) -> &'static str {
        match self {
            RuleDecision::Allow => "allow",
            RuleDecision::Ask => "ask",
            RuleDecision::Refuse => "refuse",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        [RuleDecision::Allow, RuleDecision::Ask, RuleDecision::Refuse].into_iter().find(|own| own.word() == word)
    }
}

/// A rule: it meets a simple command that begins with these words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The words.
    pub prefix: Vec<String>,
    /// Its decision.
    pub decision: RuleDecision,
    /// True if the network is allowed too, with `allow`.
    pub network: bool,
    /// The reason, for the person and the model.
    pub why: Option<String>,
}

impl Rule {
    /// Checks a rule.
    ///
    /// # Errors
    /// Why there can be no such rule, in words.
    pub fn check(&self) -> Result<(), String> {
        let Some(program) = self.prefix.first().filter(|word| !word.trim().is_empty()) else {
            return Err("a rule needs the words that a command begins with".into());
        };
        let name = base(program);
        // An option in second place leaves open what is run: `git -c alias.x=…` runs anything.
        let open = |word: &String| {
            word.starts_with('-') && (TEXT.contains(&word.as_str()) || self.prefix.len() == 2 || name == "git")
        };
        let family = family(name);
        let sets = |word: &String| word.contains('=') || open(word);
        let is_runner = named(RUNNERS, family) || named(INTERPRETERS, family);
        let rest = &self.prefix[1..];
        // Behind options only, or behind one that takes a text, stands what is run.
        let is_open = rest.first().is_none_or(sets) || leaves_open(rest);
        let is_closed = gives_text(family, rest) || gives_module(family, rest);
        let runs_text = is_runner && is_open && !is_closed || named(PACKAGE_RUNNERS, name) && !gives_package(rest);
        let anything = [name, family].iter().any(|name| ANYTHING.contains(name) || named(MORE_ANYTHING, name));
        if self.decision != RuleDecision::Allow {
            return Ok(());
        }
        if let Some(second) = self.prefix.get(1).filter(|word| has_part(RUN_PARTS, family, word)) {
            let inner = Rule { prefix: inner_prefix(family, second, &self.prefix[2..]), ..self.clone() };
            let is_option = inner.prefix.first().is_some_and(|word| word.starts_with('-'));
            if is_option || inner.check().is_err() {
                return Err(format!(
                    "{name} {second} runs anything: a rule would allow everything; give the program too"
                ));
            }
        }
        if anything || runs_text {
            let mut scripts = SCRIPTS.lines().filter_map(|line| line.split_once(": "));
            let script = scripts.find(|(program, _)| [name, family].contains(program));
            let give = match script {
                Some(("npx" | "bunx" | "pnpx" | "uvx", package)) => {
                    format!("a package, as [\"{name}\", \"{package}\"]")
                }
                Some(("make", target)) => format!("a target, as [\"{name}\", \"{target}\"]"),
                Some((_, script)) => format!("a script, as [\"{name}\", \"{script}\"]"),
                None if anything => "the program itself".into(),
                None => "a script or a target too".into(),
            };
            return Err(format!("{name} runs anything: a rule would allow everything; give {give}"));
        }
        Ok(())
    }

    /// Returns whether the rule meets a part. A program by its bare name is also met by a path to one of that name,
    /// unless the rule allows it: any file may have that name.
    fn meets(&self, part: &ClassifiedCommand) -> bool {
        let (Some(program), Some(Some(word))) = (self.prefix.first(), part.words.first()) else { return false };
        let by_name = self.decision != RuleDecision::Allow && !program.contains('/');
        let is_program = word == program || by_name && base(word) == program;
        let words = part.words.iter().take(self.prefix.len()).skip(1);
        is_program
            && part.words.len() >= self.prefix.len()
            && words.map(Option::as_deref).eq(self.prefix.iter().skip(1).map(|word| Some(word.as_str())))
    }

    /// Returns the rule as it is written: `cargo test`.
    pub fn words(&self) -> String {
        quote::line(&self.prefix)
    }
}

/// The approval policy for commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellPolicy {
    /// The person, but for what only reads.
    Ask,
    /// Commands that can be undone run.
    Review,
    /// All but what nobody can undo runs.
    All,
    /// Nothing but what only reads runs.
    None,
}

/// The outcome of judging a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandVerdict {
    /// The policy lets it run.
    Policy,
    /// Rules let it run.
    Rule,
    /// The person is asked.
    Ask,
    /// It is refused, and the rule that does so; none: the policy does.
    Refuse(Option<Rule>),
}

/// The verdict on a command, and how it came to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The outcome.
    pub verdict: CommandVerdict,
    /// The grant of its sandbox, if it runs.
    pub grant: Grant,
    /// The rule that met each part.
    pub rules: Vec<Option<Rule>>,
    /// The reason why it asks; none: it does not.
    pub asks: Option<AskReason>,
}

/// The reason why a command asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskReason {
    /// A rule asks about it.
    Rule,
    /// The policy asks about its class.
    Policy,
    /// The policy asks about its class where not both guard and sandbox hold it.
    Unguarded,
    /// It changes a file that acts later.
    ActsLater,
    /// It changes a file that `archiveExclude` leaves out.
    Excluded,
    /// Nothing keeps what it overwrites.
    Unkept,
    /// It may print keys.
    Secrets,
    /// It searches files that may hold keys, and no rule allows that.
    Searches,
    /// No sandbox holds it to its class.
    Unenforced,
}

impl Judgement {
    /// Returns why it asks, in words; `policy` is the name of the approval policy. None: it does not.
    pub fn why_it_asks(&self, found: &Assessment, policy: &str) -> Option<String> {
        let is = format!("its class is {}: {}", found.class.word(), found.reason().words());
        let about =
            format!("the approval policy {policy} asks about class {}: {}", found.class.word(), found.reason().words());
        Some(match self.asks? {
            AskReason::Rule => format!("a rule asks about it; {is}"),
            AskReason::Policy => about,
            AskReason::Unguarded => format!("unless both the guard and the sandbox hold it, {about}"),
            AskReason::ActsLater => {
                let paths = listed(found.acts_later.iter());
                format!("no policy and no rule lets what acts later be changed unasked ({paths}); {is}")
            }
            AskReason::Excluded => {
                let paths = found.excluded_words();
                format!("no policy and no rule lets what is not archived be changed unasked: {paths}; {is}")
            }
            AskReason::Unkept => format!("{}; {is}", found.unkept.as_deref().unwrap_or_default()),
            AskReason::Secrets => format!("no policy and no rule lets keys be printed unasked; {is}"),
            AskReason::Searches => match &found.searched {
                Some(SearchedKeys::Found(path)) => format!(
                    "no policy lets lines of {} be printed unasked, which may hold keys: leave it out of the search, or \
                     write a rule for it; {is}",
                    clean_line(path)
                ),
                Some(SearchedKeys::Unseen) | None => {
                    format!("no policy lets a search run unasked where not all files could be looked at for keys; {is}")
                }
            },
            AskReason::Unenforced => match &found.private {
                Some(path) => format!(
                    "no policy and no rule lets private files be read unasked without a sandbox ({}); {is}",
                    clean_line(path)
                ),
                None => format!("no policy and no rule lets it run unasked without a sandbox; {is}"),
            },
        })
    }
}

/// The means that hold a command to its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enforced {
    /// The guard keeps what it overwrites.
    pub guard: bool,
    /// It runs in a sandbox.
    pub sandbox: bool,
    /// The person switched the sandbox off.
    pub off: bool,
}

/// Judges a command by rules and policy.
pub fn judge(found: &Assessment, rules: &[Rule], policy: ShellPolicy, enforced: Enforced) -> Judgement {
    let mut judged = by_rules(found, rules, policy, enforced.guard && enforced.sandbox);
    let runs = |judged: &Judgement| matches!(judged.verdict, CommandVerdict::Policy | CommandVerdict::Rule);
    // As with edits, no policy and no rule accepts what acts later, or what is not archived.
    let reasons =
        [(AskReason::ActsLater, found.acts_later.is_empty()), (AskReason::Excluded, found.excluded.is_empty())];
    if let Some((why, _)) = reasons.into_iter().find(|(_, is_empty)| runs(&judged) && !is_empty) {
        (judged.verdict, judged.asks) = (CommandVerdict::Ask, Some(why));
    }
    let is_unkept = found.unkept.is_some() && found.class != Class::Read;
    if is_unkept && (runs(&judged) || judged.asks == Some(AskReason::Unguarded)) {
        (judged.verdict, judged.asks) = (CommandVerdict::Ask, Some(AskReason::Unkept));
    }
    let known = found.parts.iter().all(|part| part.words.iter().all(Option::is_some));
    let runs_nothing = |part: &ClassifiedCommand| {
        part.words.first().and_then(Option::as_deref).is_none_or(super::readers::runs_nothing)
    };
    let known = known && found.opened.iter().all(Option::is_some) && found.private.is_none();
    let harmless = found.class == Class::Read && known && !found.evaluates && found.parts.iter().all(runs_nothing);
    let unenforced = !enforced.sandbox && !enforced.off && !harmless;
    let reasons = [
        // What it prints would send keys to the model: no policy agrees to that, and to a search a rule alone.
        (AskReason::Secrets, found.secrets),
        (AskReason::Searches, prints_keys(found, &judged.rules)),
        // Nothing enforces the class.
        (AskReason::Unenforced, unenforced),
    ];
    if let Some((why, _)) = reasons.into_iter().find(|(_, holds)| runs(&judged) && *holds) {
        (judged.verdict, judged.asks) = match policy {
            ShellPolicy::None => (CommandVerdict::Refuse(None), None),
            _ => (CommandVerdict::Ask, Some(why)),
        };
    }
    judged
}

/// Returns whether a text may print keys: it names a file of them, or searches one and no rule allows that.
pub fn prints_keys(found: &Assessment, met: &[Option<Rule>]) -> bool {
    let is_allowed = |rule: &Option<Rule>| rule.as_ref().is_some_and(|rule| rule.decision == RuleDecision::Allow);
    let mut parts = found.parts.iter().zip(met);
    found.secrets || parts.any(|(part, rule)| part.reason == Reason::Searches && !is_allowed(rule))
}

/// Returns whether the words behind a runner begin with options and may end before what it runs: with an option, or with
/// what may be the value of one.
fn leaves_open(words: &[String]) -> bool {
    let options = words.iter().take_while(|word| word.starts_with('-')).count();
    options > 0 && (words.len() <= options + 1 || words.last().is_some_and(|word| word.starts_with('-')))
}

/// The options of interpreters that take no value and read no further text.
const PLAIN_OPTIONS: &[&str] = &["-B", "-E", "-I", "-O", "-P", "-s", "-S", "-u"];

/// Returns whether the words behind an interpreter are options and a whole text that it runs, and no later option can
/// give it another one: node, perl, ruby and lua take several texts.
fn gives_text(family: &str, words: &[String]) -> bool {
    let [options @ .., option, text] = words else { return false };
    named(EVALUATORS, family)
        && option == "-c"
        && options.iter().all(|word| PLAIN_OPTIONS.contains(&word.as_str()))
        && !text.starts_with('-')
}

/// Returns whether the words behind an interpreter are options and a module that runs nothing but itself: what follows is
/// the module's.
fn gives_module(family: &str, words: &[String]) -> bool {
    let options = words.iter().take_while(|word| PLAIN_OPTIONS.contains(&word.as_str())).count();
    let [option, module, ..] = &words[options..] else { return false };
    let is_module = !module.starts_with('-') && !module.trim().is_empty();
    let package = module.split('.').next().unwrap_or_default();
    named(EVALUATORS, family) && option == "-m" && is_module && !named(OPEN_MODULES, package)
}

/// Returns whether the words behind a runner of packages name one that does not run anything itself.
fn gives_package(words: &[String]) -> bool {
    let options = words.iter().take_while(|word| PACKAGE_OPTIONS.contains(&word.as_str())).count();
    let [package, rest @ ..] = &words[options..] else { return false };
    // Without its version: `node@20` is node.
    let end = package.char_indices().skip(1).find(|(_, c)| *c == '@').map_or(package.len(), |(at, _)| at);
    let prefix = std::iter::once(package[..end].to_string()).chain(rest.iter().cloned()).collect();
    let inner = Rule { prefix, decision: RuleDecision::Allow, network: false, why: None };
    !package.starts_with('-') && inner.check().is_ok()
}

/// Returns the words of the program that a part of another one runs.
fn inner_prefix(program: &str, part: &str, words: &[String]) -> Vec<String> {
    let skipped = match (program, part, words.first().map(String::as_str)) {
        (_, _, Some("--")) | ("uv", "tool", Some("run")) => 1,
        // Its toolchain.
        ("rustup", "run", Some(word)) if !word.starts_with('-') => 1,
        _ => 0,
    };
    words[skipped..].to_vec()
}

/// Returns whether a table names a word as a part of a program.
fn has_part(table: &str, program: &str, word: &str) -> bool {
    let parts = table.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| *name == program);
    parts.is_some_and(|(_, parts)| named(parts, word))
}

/// Returns the name of a program without its version, and of a loader or an emulator the kind: `python3.11` is
/// `python`.
fn family(name: &str) -> &str {
    if ["ld-", "ld.", "ld64", "qemu-"].iter().any(|start| name.starts_with(start)) {
        return "ld";
    }
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    if plain.is_empty() { name } else { plain }
}

fn by_rules(found: &Assessment, rules: &[Rule], policy: ShellPolicy, guarded: bool) -> Judgement {
    let met: Vec<Option<Rule>> = found.parts.iter().map(|part| strongest(part, rules).cloned()).collect();
    let decides = |decision| met.iter().flatten().find(|rule| rule.decision == decision).cloned();
    let judged = |verdict, grant| Judgement { verdict, grant, rules: met.clone(), asks: None };
    let grant = found.class.grant();
    if let Some(rule) = decides(RuleDecision::Refuse) {
        return judged(CommandVerdict::Refuse(Some(rule)), grant);
    }
    if decides(RuleDecision::Ask).is_some() && policy != ShellPolicy::None {
        return Judgement { asks: Some(AskReason::Rule), ..judged(CommandVerdict::Ask, grant) };
    }
    let allowed = |(part, rule): (&ClassifiedCommand, &Option<Rule>)| part.class == Class::Read || rule.is_some();
    let network = met.iter().flatten().any(|rule| rule.network);
    // Arithmetic may set what programs are found by; with the network, a verb that is not known may be a final one.
    let unclear = found.evaluates || network && found.parts.iter().any(|part| part.may_be_final);
    let by_rule = found.unknown.is_none() && found.class > Class::Read && found.class < Class::Final && !unclear;
    if by_rule && policy != ShellPolicy::None && found.parts.iter().zip(&met).all(allowed) {
        return judged(CommandVerdict::Rule, if network { Grant::Online } else { Grant::Workspace });
    }
    let verdict = by_policy(found.class, policy, guarded);
    let is_always = verdict == by_policy(found.class, policy, true);
    let why = if is_always { AskReason::Policy } else { AskReason::Unguarded };
    let asks = (verdict == CommandVerdict::Ask).then_some(why);
    Judgement { asks, ..judged(verdict, grant) }
}

fn by_policy(class: Class, policy: ShellPolicy, guarded: bool) -> CommandVerdict {
    match (class, policy) {
        (Class::Read, _) => CommandVerdict::Policy,
        (_, ShellPolicy::None) => CommandVerdict::Refuse(None),
        (Class::Final, _) | (_, ShellPolicy::Ask) => CommandVerdict::Ask,
        (Class::Harm, _) if !guarded => CommandVerdict::Ask,
        // Without guard and sandbox it is no review.
        (Class::Work, ShellPolicy::Review) if !guarded => CommandVerdict::Ask,
        (Class::Reach, ShellPolicy::Review) => CommandVerdict::Ask,
        _ => CommandVerdict::Policy,
    }
}

/// Returns the rule that counts for a part: `refuse` before `ask` before `allow`.
fn strongest<'a>(part: &ClassifiedCommand, rules: &'a [Rule]) -> Option<&'a Rule> {
    let met = rules.iter().filter(|rule| rule.meets(part));
    met.max_by_key(|rule| match rule.decision {
        RuleDecision::Allow => (0, rule.network),
        RuleDecision::Ask => (1, false),
        RuleDecision::Refuse => (2, false),
    })
}

/// Returns the words that a rule would begin with, for a text that asks: those of its first part that no rule and no
/// table lets run, without options that differ each time. None: there can be no rule for it.
pub fn proposed(found: &Assessment, met: &[Option<Rule>]) -> Option<Vec<String>> {
    let asks = |(part, rule): &(&ClassifiedCommand, &Option<Rule>)| part.needs_rule() && rule.is_none();
    let (part, _) = found.parts.iter().zip(met).find(asks)?;
    let known: Vec<String> = part.words.iter().map_while(Clone::clone).collect();
    let possible = found.unknown.is_none() && found.class < Class::Final;
    let mut begins = known.iter().take(2).take_while(|word| !word.starts_with('-')).count().max(1);
    if let [program, second, rest @ ..] = &known[..]
        && has_part(SCRIPT_PARTS, family(base(program)), second)
    {
        let at = rest.iter().position(|word| !SCRIPT_OPTIONS.contains(&word.as_str()))?;
        // Behind any other option its value may stand.
        begins = (!rest[at].starts_with('-')).then_some(at + 3)?;
    }
    // What removes or reaches further is allowed with its options alone, never by its name.
    let whole = part.class >= Class::Harm && begins < 2;
    let words = if whole { known.len() } else { begins };
    if whole && known.len() < part.words.len() {
        return None;
    }
    let allows = |count: usize| {
        let rule =
            Rule { prefix: known.get(..count)?.to_vec(), decision: RuleDecision::Allow, network: false, why: None };
        rule.check().is_ok().then_some(rule.prefix)
    };
    possible.then(|| (words..=known.len()).find_map(allows)).flatten()
}

#[cfg(test)]
mod tests {
    use super::super::{Around, assess};
    use super::*;

    fn found(text: &str) -> Assessment {
        let around = Around { root: "/w".into(), folder: "/w".into(), ..Around::default() };
        assess(text, &around, false)
    }

    fn rule(prefix: &[&str], decision: RuleDecision, network: bool) -> Rule {
        Rule { prefix: prefix.iter().map(|word| word.to_string()).collect(), decision, network, why: None }
    }

    #[test]
    fn the_table_of_policies() {
        let rows: [(&str, [CommandVerdict; 5]); 5] = {
            use CommandVerdict::*;
            let no = || Refuse(None);
            [
                ("ls", [Policy, Policy, Policy, Policy, Policy]),
                ("cargo build", [Ask, Policy, Ask, Policy, no()]),
                ("rm a", [Ask, Policy, Ask, Policy, no()]),
                ("curl x", [Ask, Ask, Ask, Policy, no()]),
                ("git push", [Ask, Ask, Ask, Ask, no()]),
            ]
        };
        for (text, [ask, review, unguarded, all, none]) in rows {
            let of =
                |policy, guard| judge(&found(text), &[], policy, Enforced { guard, sandbox: true, off: false }).verdict;
            assert_eq!(of(ShellPolicy::Ask, true), ask, "{text}");
            assert_eq!(of(ShellPolicy::Review, true), review, "{text}");
            assert_eq!(of(ShellPolicy::Review, false), unguarded, "{text}");
            assert_eq!(of(ShellPolicy::All, true), all, "{text}");
            assert_eq!(of(ShellPolicy::None, true), none, "{text}");
        }
        let bare = Enforced { guard: false, sandbox: false, off: false };
        let private = Assessment { private: Some("~/.netrc".into()), ..found("cat ~/.netrc") };
        let judged = judge(&private, &[], ShellPolicy::All, bare);
        let why = judged.why_it_asks(&private, "all").expect("it asks");
        assert!(why.contains("private files be read unasked without a sandbox (~/.netrc)"), "{why}");
        let off = Enforced { off: true, ..bare };
        assert_eq!(judge(&private, &[], ShellPolicy::All, off).verdict, CommandVerdict::Policy);
        assert_eq!(judge(&found("cat < a"), &[], ShellPolicy::Ask, bare).verdict, CommandVerdict::Policy);
        assert_eq!(judge(&found("cat < $x"), &[], ShellPolicy::Ask, bare).verdict, CommandVerdict::Ask);
        assert_eq!(judge(&found("cargo test"), &[], ShellPolicy::All, bare).verdict, CommandVerdict::Ask);
        assert_eq!(judge(&found("ls $x"), &[], ShellPolicy::All, bare).verdict, CommandVerdict::Ask);
        assert_eq!(judge(&found("ls a"), &[], ShellPolicy::Ask, bare).verdict, CommandVerdict::Policy);
        for text in [
            "git status",
            "cargo tree",
            "cargo --version",
            "n=$(cat n); [[ $n -gt 5 ]]",
            "n=$(cat n); [[ ${!n} ]]",
            "((x))",
        ] {
            assert_eq!(judge(&found(text), &[], ShellPolicy::Ask, bare).verdict, CommandVerdict::Ask, "{text}");
        }
        assert_eq!(
            judge(&found("cargo test"), &[], ShellPolicy::All, Enforced { off: true, ..bare }).verdict,
            CommandVerdict::Policy
        );
    }

    #[test]
    fn keys_are_sent_only_after_a_question() {
        let enforced = Enforced { guard: true, sandbox: true, off: false };
        let rules = [rule(&["cat"], RuleDecision::Allow, false), rule(&["cargo", "test"], RuleDecision::Allow, false)];
        for text in ["cat .env", "cargo test && cat .env", "cargo test -- .env"] {
            for policy in [ShellPolicy::Ask, ShellPolicy::Review, ShellPolicy::All] {
                assert_eq!(judge(&found(text), &rules, policy, enforced).verdict, CommandVerdict::Ask, "{text}");
            }
            let none = judge(&found(text), &rules, ShellPolicy::None, enforced).verdict;
            assert_eq!(none, CommandVerdict::Refuse(None), "{text}");
        }
    }

    #[test]
    fn the_reason_why_a_command_asks_is_its_own() {
        let whole = Enforced { guard: true, sandbox: true, off: false };
        let of = |found: &Assessment, policy, enforced| {
            let judged = judge(found, &[rule(&["make"], RuleDecision::Ask, false)], policy, enforced);
            assert_eq!(judged.verdict, CommandVerdict::Ask);
            judged.why_it_asks(found, "all").expect("it asks")
        };
        let all = |text: &str| of(&found(text), ShellPolicy::All, whole);
        assert_eq!(
            all("rm -rf .git"),
            "no policy and no rule lets what acts later be changed unasked (.git); its class is harm: removes files"
        );
        assert_eq!(all("make x"), "a rule asks about it; its class is work: runs a program");
        assert_eq!(all("git push"), "the approval policy all asks about class final: cannot be undone by anyone");
        assert!(all("cat .env").starts_with("no policy and no rule lets keys be printed unasked"));
        let excluded = |n: usize| Assessment {
            excluded: (0..n).map(|n| (format!("{n}.big"), "*.big".into())).collect(),
            ..found("rm 0.big")
        };
        assert_eq!(
            of(&excluded(5), ShellPolicy::All, whole),
            "no policy and no rule lets what is not archived be changed unasked: 0.big, 1.big, 2.big and 2 more \
             (archiveExclude: *.big); its class is harm: removes files"
        );
        let unguarded = of(&found("rm a"), ShellPolicy::All, Enforced { guard: false, ..whole });
        let why = "unless both the guard and the sandbox hold it, the approval policy all asks about class harm: removes files";
        assert_eq!(unguarded, why);
        let unenforced = of(&found("make"), ShellPolicy::All, Enforced { guard: true, sandbox: false, off: false });
        assert!(unenforced.starts_with("a rule asks"), "{unenforced}");
        let unenforced = of(&found("cargo test"), ShellPolicy::All, Enforced { sandbox: false, ..whole });
        assert!(unenforced.contains("lets it run unasked without a sandbox"), "{unenforced}");
        let unkept = |text: &str| Assessment { unkept: Some("too large".into()), ..found(text) };
        for (text, is) in [("touch a", "work: runs a program"), ("rm a", "harm: removes files")] {
            let asks = of(&unkept(text), ShellPolicy::All, Enforced { guard: false, ..whole });
            assert_eq!(asks, format!("too large; its class is {is}"));
        }
        let allows = [rule(&["touch"], RuleDecision::Allow, false)];
        assert_eq!(judge(&unkept("touch a"), &allows, ShellPolicy::Ask, whole).verdict, CommandVerdict::Ask);
        assert_eq!(judge(&unkept("ls"), &[], ShellPolicy::Ask, whole).asks, None);
        let judged = judge(&found("ls"), &[], ShellPolicy::Ask, whole);
        assert_eq!((judged.asks, judged.why_it_asks(&found("ls"), "ask")), (None, None));
    }

    #[test]
    fn what_acts_later_and_what_arithmetic_sets_needs_consent() {
        let enforced = Enforced { guard: true, sandbox: true, off: false };
        let rules = [rule(&["cargo", "test"], RuleDecision::Allow, false), rule(&["cp"], RuleDecision::Allow, false)];
        let of = |text: &str, policy| judge(&found(text), &rules, policy, enforced).verdict;
        for text in [
            "echo x > .git/hooks/pre-commit",
            "cp a .git/hooks/post-checkout",
            "cp AGENTS.md .",
            "cp AGENTS.md sub",
            "git config core.hooksPath d",
            "git config alias.st '!touch x'",
            "git config --unset user.name",
            "sed -i s/a/b/ .git/config",
            "echo x >> .vscode/tasks.json",
            "tee .github/workflows/x.yml < a",
            "cd .git/hooks && echo x > .envrc",
            "dd if=a of=.envrc",
            "cp --target-directory=.git/hooks pre-commit",
            "cp -vt.git/hooks pre-commit",
            "cp -t .git/hooks pre-commit",
            "install -t.github/workflows x.yml",
            "cd .git/hooks && echo x >> pre-commit",
            "cd .git && cd hooks && cp ../../x pre-commit",
            "git config core.hooksPath list",
            "git config core.pager get",
            "git config edit",
            "curl -o .git/hooks/pre-commit https://example.org",
            "curl -so .envrc https://example.org",
            "wget -O .github/workflows/x.yml https://example.org",
            "wget --output-document=.envrc https://example.org",
            "sort -o .envrc a",
            "sort -o.envrc a",
            "gcc --output .git/hooks/pre-commit a.c",
            "tar -xf a.tar -C .git/hooks",
            "tar -xf a.tar --directory=.git/hooks",
            "unzip a.zip -d .git/hooks",
            "tar xfC a.tar .git/hooks",
            "tar xCf .git/hooks a.tar",
            "tar -xf a.tar --direc=.git/hooks",
            "wget --output-doc=.envrc https://example.org",
            "sort --outp=.envrc a",
            "sort --o=.envrc a",
            "sort --ou .envrc a",
        ] {
            for policy in [ShellPolicy::Review, ShellPolicy::All, ShellPolicy::Ask] {
                assert_eq!(of(text, policy), CommandVerdict::Ask, "{text}");
            }
        }
        for text in [
            "cat AGENTS.md > copy",
            "git config --get user.name",
            "git config user.name",
            "echo .git/config > x",
            "git config list",
            "git config get user.name",
            "cd .git && cd .. && echo x >> a",
            "gcc -O2 -o out a.c",
            "tar -xf a.tar -C lib",
        ] {
            assert_eq!(of(text, ShellPolicy::All), CommandVerdict::Policy, "{text}");
        }
        for text in [
            "(( PATH=0 )); cargo test",
            "echo $((PATH=0)); cargo test",
            "for ((PATH=0; 0;)); do :; done; cargo test",
            "x='PATH=0'; ((x)); cargo test",
            ": ${x:=`rm a`}; cargo test",
            ": \"${x:-`rm a`}\"; cargo test",
        ] {
            assert_eq!(of(text, ShellPolicy::Ask), CommandVerdict::Ask, "{text}");
        }
        assert_eq!(of("cargo test", ShellPolicy::Ask), CommandVerdict::Rule);
    }

    #[test]
    fn every_part_must_be_allowed_and_refusing_wins() {
        let rules = [
            rule(&["cargo", "test"], RuleDecision::Allow, false),
            rule(&["cargo", "add"], RuleDecision::Allow, true),
            rule(&["git", "push"], RuleDecision::Allow, true),
            rule(&["npm"], RuleDecision::Ask, false),
            rule(&["rm", "-rf"], RuleDecision::Refuse, false),
        ];
        let enforced = Enforced { guard: true, sandbox: true, off: false };
        let of = |text: &str, policy| judge(&found(text), &rules, policy, enforced);
        let by = |text| of(text, ShellPolicy::Ask).verdict;
        assert_eq!(by("cargo test --lib | head -n 5"), CommandVerdict::Rule);
        assert_eq!(by("timeout 60 cargo test"), CommandVerdict::Rule);
        assert_eq!(by("cargo test && touch x"), CommandVerdict::Ask);
        assert_eq!(by("cargo test $(touch x)"), CommandVerdict::Ask);
        assert_eq!(by("cargo $x"), CommandVerdict::Ask);
        assert_eq!(by("CARGO_HOME=. cargo test"), CommandVerdict::Ask);
        assert_eq!(by("cargo test > out.txt"), CommandVerdict::Ask);
        assert_eq!(by("git push"), CommandVerdict::Ask, "a rule never allows what nobody can undo");
        assert_eq!(of("npm test", ShellPolicy::All).verdict, CommandVerdict::Ask);
        assert_eq!(of("cargo test", ShellPolicy::None).verdict, CommandVerdict::Refuse(None));
        assert_eq!(
            of("cargo test; rm -rf x", ShellPolicy::All).verdict,
            CommandVerdict::Refuse(Some(rules[4].clone()))
        );
        assert_eq!(of("cargo test", ShellPolicy::Ask).grant, Grant::Workspace);
        assert_eq!(of("cargo add x", ShellPolicy::Ask).grant, Grant::Online);
    }

    #[test]
    fn a_rule_cannot_allow_everything() {
        for prefix in [
            &["python"][..],
            &["bash"],
            &["env"],
            &["make"],
            &["python", "-c"],
            &["node", "-e"],
            &["sudo", "ls"],
            &["git"],
            &["git", "-C", "x"],
            &["sed"],
            &[""],
            &["python3.11"],
            &["python2.7", "-c"],
            &["pypy3"],
            &["lua5.4"],
            &["gmake"],
            &["make", "x=y"],
            &["rbash"],
            &["pwsh"],
            &["Rscript"],
            &["tsx"],
            &["cmake", "-P"],
            &["npm", "exec"],
            &["npm", "exec", "npx"],
            &["bun", "x"],
            &["pnpm", "dlx"],
            &["uv"],
            &["poetry", "run"],
            &["poetry", "run", "python"],
            &["bundle", "exec"],
            &["deno", "eval"],
            &["nix-shell"],
            &["/lib64/ld-linux-x86-64.so.2"],
            &["qemu-x86_64"],
            &["setpriv"],
            &["hyperfine"],
            &["fd"],
            &["sqlite3"],
            &["yarn"],
            &["pnpm"],
            &["python", "-u", "-c"],
            &["python", "-W", "ignore"],
            &["python", "-W", "ignore", "-c"],
            &["node", "--no-warnings", "-e"],
            &["perl", "-w", "-e"],
            &["npm", "exec", "--"],
            &["uv", "run", "--with"],
            &["uv", "tool", "run"],
            &["nix", "develop", "-c"],
            &["go", "run"],
            &["go", "run", "-race"],
            &["deno", "run"],
            &["bun", "run"],
            &["rustup", "run"],
            &["rustup", "run", "nightly"],
            &["rustup", "run", "nightly", "bash"],
            &["rustup", "run", "--install", "nightly"],
            &["node", "-e", "x"],
            &["perl", "-w", "-e", "print 1"],
            &["strace", "-o", "out"],
            &["python3", "-m"],
            &["python3", "-m", "timeit"],
            &["python3", "-m", "pdb", "x.py"],
            &["python3", "-W", "-m", "unittest"],
            &["npx"],
            &["npx", "--yes"],
            &["npx", "-c"],
            &["npx", "--package", "x"],
            &["npx", "node@20"],
            &["npx", "tsx"],
            &["npx", "npx"],
        ] {
            assert!(rule(prefix, RuleDecision::Allow, false).check().is_err(), "{prefix:?}");
        }
        assert!(rule(&["python"], RuleDecision::Refuse, false).check().is_ok());
        for prefix in [
            &["python", "tools/gen.py"][..],
            &["python3.11", "tools/gen.py"],
            &["make", "test"],
            &["cargo"],
            &["git", "commit"],
            &["npm", "test"],
            &["poetry", "run", "pytest"],
            &["yarn", "build"],
            &["go", "test"],
            &["go", "run", "./cmd/gen"],
            &["npm", "exec", "--", "tsc"],
            &["uv", "tool", "run", "ruff"],
            &["rustup", "run", "nightly", "cargo"],
            &["python", "-u", "-c", "print(1)"],
            &["python3", "-m", "pytest"],
            &["python3", "-B", "-m", "unittest", "-q"],
            &["npx", "vitest"],
            &["npx", "--yes", "@scope/tool@1"],
            &["npx", "tsx", "tools/gen.ts"],
            &["uvx", "ruff"],
        ] {
            assert!(rule(prefix, RuleDecision::Allow, false).check().is_ok(), "{prefix:?}");
        }
    }

    #[test]
    fn a_bare_name_is_refused_and_asked_about_by_any_path() {
        let enforced = Enforced { guard: true, sandbox: true, off: false };
        let of = |text: &str, decision| {
            judge(&found(text), &[rule(&["rm"], decision, false)], ShellPolicy::All, enforced).verdict
        };
        for text in ["rm a", "/bin/rm a", "\\rm a", "./rm a", "env /usr/bin/rm a", "ls && ../rm a"] {
            assert!(matches!(of(text, RuleDecision::Refuse), CommandVerdict::Refuse(Some(_))), "{text}");
            assert_eq!(of(text, RuleDecision::Ask), CommandVerdict::Ask, "{text}");
        }
        assert!(!matches!(of("/bin/rmdir a", RuleDecision::Refuse), CommandVerdict::Refuse(_)));
        let by_path = judge(
            &found("/bin/rm a"),
            &[rule(&["/usr/bin/rm"], RuleDecision::Refuse, false)],
            ShellPolicy::All,
            enforced,
        );
        assert_eq!(by_path.verdict, CommandVerdict::Policy);
        // Any file may have that name: what is allowed is what is named.
        assert_eq!(of("rm a", RuleDecision::Allow), CommandVerdict::Rule);
        assert_eq!(of("./rm a", RuleDecision::Allow), CommandVerdict::Policy);
    }

    #[test]
    fn a_rule_is_proposed_for_the_part_that_asks() {
        let of = |text| proposed(&found(text), &vec![None; found(text).parts.len()]).map(|words| words.join(" "));
        assert_eq!(of("ls | cargo test --lib x").as_deref(), Some("cargo test"));
        assert_eq!(of("touch a b").as_deref(), Some("touch a"));
        assert_eq!(of("make test").as_deref(), Some("make test"));
        assert_eq!(of("python tools/gen.py").as_deref(), Some("python tools/gen.py"));
        assert_eq!(of("git push"), None);
        assert_eq!(of("rm -rf build").as_deref(), Some("rm -rf build"));
        assert_eq!(of("rm -rf $x"), None);
        assert_eq!(of("git -C x fetch"), None);
        assert_eq!(of("git --no-pager fetch"), None);
        assert_eq!(of("git commit -m x").as_deref(), Some("git commit"));
        assert_eq!(of("$x"), None);
        assert_eq!(of("python -u -c x").as_deref(), Some("python -u -c x"));
        assert_eq!(of("npm exec -- tsc").as_deref(), Some("npm exec -- tsc"));
        assert_eq!(of("python3 -m unittest -q").as_deref(), Some("python3 -m unittest"));
        assert_eq!(of("npx vitest run").as_deref(), Some("npx vitest"));
        assert_eq!(of("go run ./cmd/gen").as_deref(), Some("go run ./cmd/gen"));
        // A script has the name that it was given.
        assert_eq!(of("npm test").as_deref(), Some("npm test"));
        assert_eq!(of("npm run lint").as_deref(), Some("npm run lint"));
        assert_eq!(of("pnpm run -s lint --fix").as_deref(), Some("pnpm run -s lint"));
        assert_eq!(of("npm run $x"), None);
    }
}
