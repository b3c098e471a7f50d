//! Programs that remove and overwrite, that reach beyond the workspace, and whose effect nobody can undo.

use super::kinds::{Class, Reason};
use super::word::Word;

/// Programs that remove or overwrite what is there.
const HARM: &str = "\
    rm rmdir unlink shred truncate srm rimraf trash";
/// Programs that need the network, or act on more than files of the workspace.
const NETWORK: &str = "\
    curl wget aria2c http https xh ssh scp sftp ftp tftp telnet nc ncat netcat socat ping dig nslookup host \
    traceroute nmap mosh gh glab hub aws gcloud gsutil az kubectl helm terraform tofu pulumi ansible \
    ansible-playbook heroku fly flyctl vercel netlify wrangler doctl rclone npx bunx pnpx uvx pipx";
/// Programs that act on other processes, users, services or machines.
const OTHERS: &str = "\
    docker podman nerdctl buildah sudo doas su pkexec runuser systemctl service launchctl journalctl pkill killall \
    mount umount crontab at batch useradd usermod userdel passwd chown chgrp iptables nft ip ifconfig sysctl \
    modprobe insmod swapon swapoff systemd-run dbus-send xdg-open open osascript loginctl machinectl virsh \
    qemu-img dmsetup lvremove vgremove losetup";
/// Package managers, and the parts of each that fetch.
const FETCHES: &str = "\
npm: install i add ci update upgrade up exec x init create audit login view info
pnpm: install i add update up upgrade dlx create fetch import
yarn: - install add up upgrade dlx create
bun: install i add update upgrade x create
deno: install add cache upgrade
pip: install download wheel index search
pip3: install download wheel index search
uv: add sync lock pip tool python self
poetry: add install update lock self
pdm: add install update lock sync
conda: install create update env
mamba: install create update env
cargo: add fetch install update search login owner info generate-lockfile binstall
rustup: update install toolchain target component self
go: get install mod work
gem: install update fetch
bundle: - install update add
composer: install update require create-project
dotnet: add restore tool workload
mix: deps.get deps.update local.hex archive.install
apt: install add update upgrade remove purge full-upgrade autoremove
apt-get: install update upgrade remove purge dist-upgrade autoremove source
dnf: install update upgrade remove
yum: install update upgrade remove
apk: add update upgrade del
pacman: -S -Sy -Syu -R -Rs -U
zypper: install in update up remove rm
brew: install update upgrade uninstall tap reinstall
snap: install refresh remove
nix: run shell build develop profile flake
nix-env: -i -iA -e -u
git: fetch pull clone ls-remote send-email request-pull svn
corepack: enable prepare install use";
/// Options of git without a value that a clone, fetch or pull of a path usually has.
const PLAIN_OPTIONS: &str = "\
quiet verbose progress bare mirror local no-hardlinks no-checkout shared single-branch no-single-branch no-tags tags \
sparse no-recurse-submodules prune force append ff ff-only no-ff rebase no-rebase squash commit no-commit edit no-edit \
stat no-stat autostash no-autostash allow-unrelated-histories";
/// Options of git with a value that such a one usually has.
const VALUED_OPTIONS: &str = "branch origin depth shallow-since jobs strategy strategy-option";
/// Programs that publish or give up permanently: the program, and words of which one makes it so; none: it alone.
const FINAL: &str = "\
git: push
npm: publish unpublish deprecate dist-tag owner access
pnpm: publish
yarn: publish
bun: publish
deno: publish
mvn: deploy
gradle: publish
dotnet: push
dart: publish
flutter: publish
mix: hex.publish
hatch: publish
flit: publish
cargo: publish yank release
lerna: publish
changeset: publish
release-it:
semantic-release:
goreleaser: release
hg: push
jj: push
sl: push
bzr: push
darcs: push send
fossil: push sync commit
svn: commit ci delete del remove rm copy cp move mv mkdir import
docker-compose: rm down kill push
podman-compose: rm down kill push
skopeo: copy delete sync
vault: delete write put patch destroy disable revoke
nomad: run stop purge
consul: put delete
etcdctl: put del
helmfile: apply sync destroy
serverless: deploy remove
sls: deploy remove
sam: deploy delete
cdk: deploy destroy
eb: deploy terminate
firebase: deploy delete
gem: push yank
poetry: publish
uv: publish
pdm: publish
twine: upload
gh: merge delete close transfer archive release api
glab: merge delete close
docker: rm rmi prune push kill down
podman: rm rmi prune push kill down
nerdctl: rm rmi prune push
kubectl:
helm: install upgrade uninstall delete rollback
terraform: apply destroy import state
tofu: apply destroy import state
pulumi: up destroy update
gcloud: delete create deploy update set add remove patch
gsutil: rm cp mv rsync rb mb
az: delete create update set remove start stop
heroku: destroy apps:destroy pg:reset config:set
fly: deploy destroy launch
flyctl: deploy destroy launch
vercel: deploy remove rm --prod
netlify: deploy
wrangler: deploy publish delete
doctl: delete create update
rclone: delete purge sync move copy deletefile
shutdown:
reboot:
poweroff:
halt:
fdisk:
sfdisk:
parted:
wipefs:
blkdiscard:
mkswap:
cryptsetup:
lvremove:
vgremove:";
/// Programs that run other programs in ways that are not taken apart: each word of theirs may be one.
pub const RUNNERS: &str = "\
    parallel strace ltrace unshare chroot fakeroot script entr perf gdb lldb busybox toybox caffeinate chrt \
    taskset numactl nsenter firejail bwrap proot dbus-run-session xvfb-run valgrind rr expect screen tmux dtach \
    daemonize run-parts coproc make just awk gawk mawk python python2 python3 perl ruby node nodejs deno bun php \
    lua tclsh vim vi nvim ed ex emacs tar zip man less more sed rsync git";

/// Programs that fetch others and run them: each word after them may be one.
pub const FETCHES_AND_RUNS: &str = "\
    npx bunx pnpx uvx pipx npm pnpm yarn bun deno uv poetry pdm conda mamba bundle nix nix-shell docker podman \
    nerdctl ssh mosh sudo doas su runuser pkexec systemd-run";

/// Shells: a script that they are given may hold anything.
const SHELLS: &str = "sh bash dash zsh ksh mksh ash fish yash rbash";

/// Returns whether what a simple command does is known only when it runs, and may be what nobody can undo: the
/// verb of a program that has such ones, or a script of a shell.
pub fn may_be_final(words: &[Word]) -> bool {
    let Some(name) = words.first().and_then(Word::value).map(base) else { return true };
    let arguments = words.get(1..).unwrap_or_default();
    if named(SHELLS, name) {
        return !arguments.iter().all(|word| word.text == "--version");
    }
    // The verbs of some stand behind another: `gh pr merge`, `docker compose down`.
    const DEEP: &str = "gh glab docker podman nerdctl aws gcloud az heroku jj vault consul nomad";
    let verbs = if named(DEEP, name) { 2 } else { 1 };
    let arguments = if name == "git" { git_part(arguments) } else { arguments };
    let is_verb = |word: &&Word| !word.text.starts_with('-');
    row(FINAL, name).is_some_and(|words| !words.is_empty())
        && arguments.iter().filter(is_verb).take(verbs).any(|word| !word.is_static)
}

/// Returns the class of a simple command, by its name and arguments; `work` where it is in none of the tables.
pub fn class_of(words: &[Word]) -> (Class, Reason) {
    let Some(name) = words.first().and_then(Word::value).map(base) else { return (Class::Work, Reason::Runs) };
    let arguments = words.get(1..).unwrap_or_default();
    let has = |wanted: &[&str]| arguments.iter().any(|word| wanted.contains(&word.text.as_str()));
    if is_final(name, arguments) {
        return (Class::Final, Reason::Final);
    }
    if fetches(name, arguments) {
        return (Class::Reach, Reason::Network);
    }
    if named(NETWORK, name) {
        return (Class::Reach, Reason::Network);
    }
    if named(OTHERS, name) || (name == "kill" && kills_others(arguments)) {
        return (Class::Reach, Reason::Others);
    }
    // A host before a colon is another machine.
    let remote =
        |word: &Word| word.text.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'));
    if name == "rsync" && arguments.iter().any(|word| remote(word) || word.text.contains("://")) {
        return (Class::Reach, Reason::Network);
    }
    if named(HARM, name) || name == "sed" && edits_in_place(arguments) {
        return (Class::Harm, if name == "sed" { Reason::Overwrites } else { Reason::Removes });
    }
    let overwrites = match name {
        "tee" => !has_short(arguments, 'a', "--append"),
        "perl" | "ruby" => has_short(arguments, 'i', "--in-place"),
        "dd" => arguments.iter().any(|word| word.text.starts_with("of=") || !word.is_static),
        "rsync" => arguments.iter().any(|word| word.text.starts_with("--del") || word.text.starts_with("--remove")),
        "chmod" => has_short(arguments, 'R', "--recursive"),
        "find" => has(&["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"]),
        "sort" => has_short(arguments, 'o', "--o"),
        "ln" => has_short(arguments, 'f', "--force"),
        "patch" | "fallocate" | "install" => true,
        "git" => return git(arguments),
        _ => false,
    };
    if overwrites { (Class::Harm, Reason::Overwrites) } else { (Class::Work, Reason::Runs) }
}

/// Returns whether a name is on a list.
pub fn named(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|own| own == name)
}

/// Returns the words of a program's row; none: it has no row.
fn row(table: &'static str, name: &str) -> Option<&'static str> {
    let of = |line: &'static str| line.split_once(':').filter(|(program, _)| *program == name);
    table.lines().find_map(of).map(|(_, words)| words.trim())
}

/// Returns the last part of a program's path: `/bin/rm` is `rm`.
pub fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Returns whether a program, by the last part of its path, removes each file that it is given.
pub fn is_remover(name: &str) -> bool {
    matches!(name, "rm" | "rmdir" | "unlink" | "shred" | "srm" | "rimraf")
}

/// Returns whether `sed` changes the files that it reads.
pub fn edits_in_place(arguments: &[Word]) -> bool {
    has_short(arguments, 'i', "--in-place")
}

/// Returns whether an option is among these: as a letter, alone or with others, or at length, which may be shortened.
fn has_short(arguments: &[Word], letter: char, long: &str) -> bool {
    arguments.iter().any(|word| {
        let text = word.text.as_str();
        let short = text.starts_with('-') && !text.starts_with("--") && text.contains(letter);
        let at_length = text.len() > 3 && long.starts_with(text) || text.starts_with(long);
        short || at_length && text.starts_with("--") || (word.may_be_option() && !word.is_static)
    })
}

/// Returns the first argument that is no option.
fn part(arguments: &[Word]) -> &str {
    let first = arguments.iter().find(|word| !word.text.starts_with('-') && !word.text.starts_with('+'));
    first.map_or("", |word| word.text.as_str())
}

fn fetches(name: &str, arguments: &[Word]) -> bool {
    let Some(parts) = row(FETCHES, name) else {
        return name.starts_with("python")
            && module(arguments).is_some_and(|module| ["pip", "ensurepip"].contains(&module));
    };
    let is_part = |word: &str| named(parts, if word.is_empty() { "-" } else { word });
    match name {
        _ if arguments.iter().any(|word| word.text == "--offline") => false,
        // Parts of git stand behind options with values of their own.
        "git" => {
            let part = git_part(arguments).first().map_or("", |word| word.text.as_str());
            if matches!(part, "clone" | "fetch" | "pull") && is_of_this_machine(git_part(arguments)) {
                return false;
            }
            let verbs: &[&str] = match part {
                // One that is added is not asked, unless it is fetched at once.
                "remote" => &["update", "show", "prune", "-f", "--fetch"],
                "submodule" | "lfs" => &["update", "add", "fetch", "pull", "prune"],
                _ => &[],
            };
            let remote = verbs.iter().any(|verb| arguments.iter().any(|word| word.text == *verb));
            is_part(part) || remote
        }
        "pacman" | "nix-env" => arguments.iter().any(|word| is_part(&word.text)),
        _ => is_part(part(arguments)) && (!part(arguments).is_empty() || arguments.is_empty()),
    }
}

/// Returns whether the repository that a part of git names is a path: it stands first behind the part, or behind options
/// that are known; the value of another one could be taken for it.
fn is_of_this_machine(part: &[Word]) -> bool {
    let is_clone = part[0].text == "clone";
    repository_of(part, is_clone).is_some_and(|word| {
        let text = word.text.as_str();
        // What a clone is made of is a path where it is no address and no `host:path`.
        let is_cloned = is_clone && !text.contains(':') && !text.starts_with('-');
        let begins = ["./", "../", "/", "file:///"].iter().any(|begins| text.starts_with(begins));
        is_cloned || begins || [".", ".."].contains(&text)
    })
}

/// Returns the first word of a part of git that is no option and no value of one; none: it is known by running alone, or an
/// option before or after it may mean another one.
fn repository_of(part: &[Word], is_clone: bool) -> Option<&Word> {
    let (plain, valued) = if is_clone { ("qvlns", "boj") } else { ("qvnpfakt46r", "jsX") };
    let (mut words, mut repository, mut are_options) = (part.iter().skip(1), None, true);
    while let Some(word) = words.next() {
        let Some(option) = word.text.strip_prefix('-').filter(|_| are_options) else {
            repository = repository.or(Some(word));
            continue;
        };
        let has_value = match option.strip_prefix('-') {
            Some("") => {
                are_options = false;
                false
            }
            Some(name) if named(PLAIN_OPTIONS, name) => false,
            Some(name) if named(VALUED_OPTIONS, name) => true,
            Some(name) if name.split_once('=').is_some_and(|(name, _)| named(VALUED_OPTIONS, name)) => false,
            None if option.len() == 1 && valued.contains(option) => true,
            None if !option.is_empty() && option.chars().all(|one| plain.contains(one)) => false,
            _ => return None,
        };
        if has_value {
            words.next().filter(|value| value.is_static)?;
        }
    }
    repository.filter(|word| word.is_static)
}

fn module(arguments: &[Word]) -> Option<&str> {
    let at = arguments.iter().position(|word| word.text == "-m")?;
    arguments.get(at + 1)?.value()
}

fn is_final(name: &str, arguments: &[Word]) -> bool {
    let has = |word: &str| arguments.iter().any(|own| own.text == word);
    let git_part = if name == "git" { git_part(arguments).first().map_or("", |word| word.text.as_str()) } else { "" };
    match name {
        "git" => match git_part {
            "push" | "prune" | "send-pack" | "http-push" => true,
            "svn" => has("dcommit"),
            "subtree" => has("push"),
            "p4" => has("submit"),
            "gc" => arguments.iter().any(|word| word.text.starts_with("--pr") || word.text == "--aggressive"),
            "reflog" => has("expire") || has("delete"),
            "lfs" => has("prune") || has("push"),
            _ => false,
        },
        "dd" => arguments.iter().any(|word| word.text.starts_with("of=/dev/") && word.text != "of=/dev/null"),
        "aws" => {
            let writes =
                ["delete", "terminate", "put", "create", "remove", "update", "modify", "stop", "start", "reboot"];
            let copies = ["rm", "mv", "cp", "sync", "rb", "mb", "deploy"];
            arguments.iter().any(|word| {
                copies.contains(&word.text.as_str()) || writes.iter().any(|verb| word.text.starts_with(verb))
            })
        }
        name if name.starts_with("mkfs") || name.starts_with("mke2fs") => true,
        name => row(FINAL, name).is_some_and(|words| words.is_empty() || words.split(' ').any(has)),
    }
}

/// Returns the part of git and what follows it.
pub fn git_part(arguments: &[Word]) -> &[Word] {
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    arguments.get(git_options(&texts)..).unwrap_or_default()
}

/// Returns the number of words that are git's own options, before its part.
pub fn git_options(arguments: &[&str]) -> usize {
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        match *word {
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" | "--config-env"
            | "--super-prefix" => at += 2,
            text if text.starts_with('-') => at += 1,
            _ => break,
        }
    }
    at.min(arguments.len())
}

fn git(arguments: &[Word]) -> (Class, Reason) {
    let rest = git_part(arguments);
    let Some(first) = rest.first() else { return (Class::Work, Reason::Runs) };
    let Some(part) = first.value() else { return (Class::Harm, Reason::History) };
    let arguments = rest.get(1..).unwrap_or_default();
    let has = |wanted: &[&str]| arguments.iter().any(|word| wanted.contains(&word.text.as_str()));
    let unsure = arguments.iter().any(|word| word.may_be_option() && !word.is_static);
    let harm = match part {
        "clean" | "restore" | "rebase" | "filter-branch" | "filter-repo" | "rm" | "update-ref" | "read-tree"
        | "checkout-index" | "replace" | "symbolic-ref" => true,
        "reset" => {
            unsure || has(&["--hard", "--merge", "--keep"]) || arguments.iter().any(|word| word.text.starts_with("--h"))
        }
        "checkout" => unsure || has(&["--", ".", "--ours", "--theirs", "-B"]) || has_short(arguments, 'f', "--force"),
        "switch" => unsure || has(&["-C", "--discard-changes"]) || has_short(arguments, 'f', "--force"),
        "stash" => unsure || has(&["drop", "clear", "pop"]),
        "branch" => {
            unsure
                || has_short(arguments, 'D', "--delete")
                || has_short(arguments, 'd', "--delete")
                || has_short(arguments, 'f', "--force")
                || has_short(arguments, 'M', "--move")
        }
        "tag" => unsure || has_short(arguments, 'd', "--delete") || has_short(arguments, 'f', "--force"),
        "worktree" => has(&["remove", "prune"]),
        "remote" => has(&["remove", "rm", "prune"]),
        "commit" => has(&["--amend"]),
        "apply" | "am" | "mv" => has_short(arguments, 'f', "--force"),
        _ => false,
    };
    if harm { (Class::Harm, Reason::History) } else { (Class::Work, Reason::Runs) }
}

/// Returns whether other processes than jobs of this shell are ended.
fn kills_others(arguments: &[Word]) -> bool {
    let own = |word: &Word| {
        let signal = word.text.starts_with('-')
            && word.text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_uppercase());
        word.is_static
            && (word.text.starts_with('%') || signal || ["-l", "-L", "-9", "-15", "-2"].contains(&word.text.as_str()))
    };
    !arguments.iter().all(own)
}
