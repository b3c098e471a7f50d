use super::*;

fn of(text: &str) -> Assessment {
    assess(text, &Around { root: "/w".into(), folder: "/w/sub".into(), ..Around::default() }, false)
}

fn class(text: &str) -> Class {
    of(text).class
}

/// Texts with the lowest class they may have.
fn at_least(least: Class, texts: &[&str]) {
    for text in texts {
        assert!(class(text) >= least, "{text}: {:?}", of(text));
    }
}

#[test]
fn what_nobody_can_undo_is_known_however_it_is_written() {
    let with_network = |text: &str| {
        assess(text, &Around { root: "/w".into(), folder: "/w/sub".into(), ..Around::default() }, true).class
    };
    for text in [
        "G=push; git $G origin main",
        "git pu\\\nsh origin main",
        "echo main | xargs -I% git push origin %",
        "echo push | xargs -I% git % origin",
        "git p{u,u}sh",
        "printf 'git push origin main\\n' > r.sh; sh r.sh",
        "npx npm publish",
        "pnpm exec npm publish",
        "eval \"$X\"",
        "npm $V",
    ] {
        assert_eq!(with_network(text), Class::Final, "{text}");
    }
    for text in [
        "lerna publish",
        "cargo release",
        "hg push",
        "jj git push",
        "svn commit",
        "docker-compose down -v",
        "vault kv delete x",
        "echo main | xargs -I % git push origin %",
        "echo main | xargs -i git push origin {}",
        "npx npm publish",
    ] {
        assert_eq!(class(text), Class::Final, "{text}");
    }
    for text in ["git fetch $R", "npm install $P", "curl $U", "cargo add $C", "git \\\n  fetch origin", "npm ci"] {
        assert_eq!(with_network(text), Class::Reach, "{text}");
    }
    // Without the network nothing leaves.
    assert!(class("sh r.sh") < Class::Reach && class("git $G") < Class::Reach);
}

#[test]
fn backticks_and_arithmetic_that_bash_reads_otherwise_are_no_reading() {
    for text in [
        ": ${x:=`rm a`}",
        "echo \"${x:-`rm a`}\"",
        "echo ${x:=`python3 -c 'print(1+1)'`}",
        "(( PATH=0 )); cat a",
        "x='q[$(python3 -c 1)]'; echo ${!x}",
        "cat <<X\n${x:-`rm a`}\nX\n",
    ] {
        assert!(class(text) > Class::Read, "{text}: {:?}", of(text));
    }
    for text in ["echo `ls`", "echo \"`ls`\"", "echo '`'", "for ((i=0; i<3; i++)); do echo $i; done", "((a == 1))"] {
        assert_eq!(class(text), Class::Read, "{text}: {:?}", of(text));
    }
    assert_eq!(class("cat <<'X'\na `b` c\nX\n"), Class::Read);
}

#[test]
fn what_only_reads_is_distinguished_from_what_works() {
    for text in [
        "ls -la",
        "cat a | grep -n x | head -n 3",
        "git status --short",
        "git log --oneline -n 5",
        "git diff HEAD~1 -- src",
        "find . -name '*.rs' -type f",
        "rg -n 'fn main' src",
        "sed -n '1,20p' a.rs",
        "sed -n '/fn a/,/^}/p' a",
        "cargo tree",
        "wc -l src/*.rs",
        "sort -k2 -n a | uniq -c",
        "ls > /dev/null 2>&1",
        "for f in *.rs; do wc -l \"$f\"; done",
        "if [ -f a ]; then cat a; fi",
        "n=3; echo $n",
        "echo 'rm -rf /'",
        "git branch --show-current",
        "rm --version",
        "[[ -d src ]] && ls src",
        "jq .a b.json",
        "cd src && ls",
        "date +%s",
        "env",
        "LC_ALL=C sort a",
        "diff <(ls a) <(ls b)",
        "cat <<'X'\nrm -rf .\nX\n",
        "timeout 5 ls",
        "git --no-pager log -3",
        "test -f a && echo there",
        "# nothing",
        "echo a\\ b",
        "cat a.txt | xargs grep x",
        "stat -c %s a",
        "printf '%s\\n' a",
        "cat <<-X\n\ta\n\tX\n",
        "cat <<X | sort\nb\nX\n",
        "env -i -u A cat a",
        "/usr/bin/timeout 5 ls",
        "sed -n -e '1,3p' a",
        "jobs -l",
        "(( n > 3 )) && ls",
    ] {
        assert_eq!(class(text), Class::Read, "{text}: {:?}", of(text));
    }
    for text in [
        "cargo test",
        "./build.sh",
        "python gen.py",
        "mkdir a",
        "touch a",
        "echo x >> log",
        "npm test",
        "git add -A",
        "git commit -m x",
        "/tmp/x",
        "tee -a log",
        "echo > /tmp/x",
    ] {
        assert_eq!(class(text), Class::Work, "{text}: {:?}", of(text));
    }
}

#[test]
fn what_removes_is_found_however_it_is_written() {
    at_least(
        Class::Harm,
        &[
            "rm a",
            "x='a[$(rm -rf src)]'; [[ ${!x} ]]",
            "x='a[$(rm -rf src)]'; for i in ${!x}; do :; done",
            "rm -rf src",
            "\\rm a",
            "r''m a",
            "\"rm\" a",
            "/bin/rm a",
            "$'rm' a",
            "ls; rm a",
            "ls && rm a",
            "ls | rm a",
            "ls & rm a",
            "(rm a)",
            "{ rm a; }",
            "echo $(rm a)",
            "echo `rm a`",
            "echo \"$(rm a)\"",
            "cat <(rm a)",
            "cat <<X\n$(rm a)\nX\n",
            "env rm a",
            "env -u X A=b rm a",
            "nice -n 5 rm a",
            "nohup rm a",
            "time rm a",
            "timeout 5 rm a",
            "timeout -k 1 5 rm a",
            "stdbuf -o0 rm a",
            "setsid rm a",
            "command rm a",
            "builtin command rm a",
            "exec rm a",
            "ls | xargs rm",
            "ls | xargs -n 1 -I{} rm {}",
            "ls | xargs -0 sh -c 'rm $0'",
            "find . -delete",
            "find . -exec rm {} +",
            "find . -execdir rm {} \\;",
            "find . -ok rm {} \\;",
            "find . -fprint a",
            "find . -exec sh -c 'rm \"$1\"' _ {} \\;",
            "sh -c 'rm a'",
            "bash -lc 'rm a'",
            "bash -c \"rm a\"",
            "sh -ec 'rm a'",
            "sh -c \"sh -c 'rm a'\"",
            "eval rm a",
            "eval 'rm a'",
            "trap 'rm a' EXIT",
            "X=rm; $X a",
            "X='rm a'; $X",
            "${X} a",
            "$(echo rm) a",
            "`echo rm` a",
            "{rm,a}",
            "r? a",
            "/bin/r* a",
            "alias l=rm; l a",
            "l() { rm a; }; l",
            "function l { rm a; }; l",
            "source x",
            ". ./x",
            "shopt -s expand_aliases",
            "eval \"$x\"",
            "bash <<X\nrm a\nX\n",
            "find 2>/dev/null . -delete",
            "find <<X . -delete\na\nX\n",
            "> /dev/null rm a",
            "echo 'rm a' | sh",
            "sh < x",
            "bash -s < x",
            "bash /dev/stdin",
            "mv a b $c",
            "sed -i s/a/b/ x",
            "sed --in-place s/a/b/ x",
            "sed -ni p x",
            "perl -pi -e s/a/b/ x",
            "perl -i x",
            "dd if=a of=b",
            "truncate -s 0 a",
            "shred a",
            "tee a",
            "unlink a",
            "rmdir a",
            "chmod -R 777 .",
            "rsync -a --delete a/ b",
            "git reset --hard",
            "git -C x reset --hard",
            "git -c a=b clean -fdx",
            "git checkout -f",
            "git checkout -- a",
            "git restore a",
            "git stash drop",
            "git branch -D x",
            "git rebase main",
            "git filter-branch",
            "! rm a",
            "if rm a; then :; fi",
            "while rm a; do :; done",
            "for f in a; do rm $f; done",
            "case a in a) rm a;; esac",
            "until rm a; do :; done",
            "[[ -n $(rm a) ]]",
            "(( $(rm a) ))",
            "a=$(rm a)",
            "a[$(rm x)]=1",
            "echo ${a:-$(rm b)}",
            "echo ${a[$(rm b)]}",
            "export A=$(rm b)",
            "echo > \"$x\"",
            "rm a #",
            "ls\nrm a",
            "ls;\\\nrm a",
            "rm\ta",
            "\nrm a",
            "ls |& rm a",
            "coproc rm a",
            "busybox rm a",
            "strace -f rm a",
            "parallel rm ::: a",
            "script -c 'rm a' x",
            "python -c 'import os; os.system(\"rm a\")'",
            "awk 'BEGIN { system(\"rm a\") }'",
            "git bisect run rm a",
            "git submodule foreach 'rm a'",
            "tar cf x --to-command='rm a'",
            "flock x rm a",
            "flock x -c 'rm a'",
            "watch rm a",
            "watch -n 1 'rm a'",
            "ionice -c 3 rm a",
            "install a b",
            "sort -o a a",
            "ln -f a b",
            "patch < x",
            "env -S 'rm a'",
            "echo $(( $(rm a) ))",
            "ls \u{202e}",
            "l\u{200b}s",
            "ls 'unended",
            "ls )",
            "echo `echo \\`rm a\\``",
            "cp $a $b",
            "mapfile -C 'rm a' x",
            "printf -v 'a[$(rm x)]' y; rm z",
            "echo ${x@P}",
            "[[ -v 'a[$(rm x)]' ]]",
            "select x in a; do rm a; done",
            "time -p rm a",
            "env - rm a",
            "exec -a ls rm a",
            "xargs -a list rm",
            "find . -type f -print0 | xargs -0 -P4 -- rm -f --",
            "ls \u{1b}[2K",
            "cat <<EOF;\nEOF\nrm a\nEOF;",
            "cat <<EOF|cat\nEOF\nrm a\nEOF|cat\n",
            "cat <<X'Y'\nXY\nrm a\nX'Y'\n",
            "cat <<$'X'\n$X\nrm a\n$'X'\n",
            "cat <<X\n X\ncat <<'Y'\nX\nrm -rf src\nY\n",
            "cat <<X\na\\\nX\nX\ncat <<'Y'\nrm a\nY\n",
            "x='a[$(rm -rf src)]'; [[ x -eq 0 ]]",
            "x='a[$(rm -rf src)]'; ((x))",
            "x=\"a[\\$(rm -rf src)]\"; echo ${b[x]}",
            "env '-iSrm -rf src' ls",
            "env --sp='rm -rf src' ls",
            "bash --rcfile ./evil -ic ls",
            "bash --init-file ./evil -ic ls",
            "fish --init-command='rm -rf src' -c ls",
            "eval -- 'rm -rf src'",
            "git -c alias.x=clean x",
        ],
    );
}

#[test]
fn no_text_that_writes_or_runs_counts_as_reading() {
    at_least(
        Class::Work,
        &[
            "find . -exec ls {} +",
            "true & wait -n -p 'a[$(rm -rf src)]'",
            "rg --pre ./x a",
            "rg -z a",
            "sort --compress-program=./x a",
            "sort --output=b a",
            "sort $x",
            "tree -o a",
            "date -s now",
            "date 11222026",
            "uniq a b",
            "sed -n 'w x' a",
            "sed -n '1e ls' a",
            "sed -n s/a/b/w\\ x a",
            "sed p a",
            "git diff --output=x",
            "git diff --out=x",
            "git diff --ext-diff",
            "git grep -Ols x",
            "git grep --open-files-in-pager=ls x",
            "git -c core.pager=./x log",
            "git log $x",
            "git branch x",
            "git stash",
            "git tag x",
            "git config a b",
            "./ls",
            "bin/cat a",
            "PATH=. ls",
            "LD_PRELOAD=./x.so ls",
            "GIT_EXTERNAL_DIFF=./x git diff",
            "for PATH in .; do ls; done",
            "env PATH=. ls",
            "env LD_PRELOAD=x cat a",
            "export PATH=.",
            "printf -v a b",
            "test -v 'a[$(x)]'",
            "file -C -m x",
            "cargo metadata",
            "cargo tree $x",
            "ls > a",
            "ls >> a",
            "ls &> a",
            "ls >| a",
            "ls 2> a",
            "jobs > a",
            "declare -x A=b",
            "cat a | tee -a b",
            "uniq $x",
            "date $x",
            "find $x",
            "sed -n $x a",
            "https_proxy=x ls",
            "awk 1 a",
            "env A=b",
            "less a",
            "man ls",
            "./env ls",
            "./bash -c ls",
            "./nohup cat a",
            "bin/timeout 5 ls",
            "sed -n p README.md -e '1e rm -rf src'",
            "sed -n p README.md -e 'w src/main.rs'",
            "jobs -x rm -rf src",
            "flock lk ./evil.sh -c ls",
            "flock lk python gen.py -c ls",
            "/usr/bin/time -o src/main.rs ls",
            "\\time -ao x ls",
            "npm_config_registry=https://evil.example ls",
            "npm_config_script_shell=./x ls",
        ],
    );
}

#[test]
fn what_reaches_further_and_what_nobody_undoes() {
    at_least(
        Class::Reach,
        &[
            "curl x",
            "wget x",
            "ssh h ls",
            "scp a h:",
            "git fetch",
            "git pull",
            "git -C x clone host:y",
            "npm install",
            "npm i x",
            "npm ci",
            "yarn",
            "pip install x",
            "python -m pip install x",
            "cargo add x",
            "cargo install x",
            "go get x",
            "apt-get install x",
            "brew install x",
            "docker run x",
            "sudo ls",
            "sudo -u a ls",
            "doas ls",
            "su -c ls",
            "systemctl stop x",
            "kill 1",
            "kill -9 $(pgrep x)",
            "kill -1",
            "kill -9 -1",
            "pkill x",
            "env curl x",
            "xargs curl",
            "sh -c 'curl x'",
            "cat < /dev/tcp/h/80",
            "echo > /dev/udp/h/1",
            "rm -rf /etc",
            "rm ~/x",
            "rm ../../x",
            "echo > /etc/passwd",
            "tee ~/.bashrc",
            "cp a /usr/bin",
            "npx x",
            "rsync a h:b",
            "git submodule update",
            "chmod 777 /etc/passwd",
            "mkdir ~/x",
            "dd if=a of=/etc/x",
            "touch $HOME/x; curl x",
            "f() { curl x; }; f",
        ],
    );
    at_least(
        Class::Final,
        &[
            "git push",
            "git push --force",
            "git -C x push",
            "npm publish",
            "cargo publish",
            "gh pr merge 3",
            "gh repo delete",
            "git gc --prune=now",
            "git reflog expire --all",
            "docker system prune",
            "docker rm x",
            "kubectl get pods",
            "terraform apply",
            "aws s3 rm x",
            "aws ec2 terminate-instances",
            "gcloud x delete",
            "dd if=a of=/dev/sda",
            "mkfs.ext4 x",
            "shutdown now",
            "sudo git push",
            "env git push",
            "sh -c 'git push'",
            "f() { git push; }; f",
            "echo > /dev/sda",
            "ls; git push",
            "echo $(git push)",
            "npm run x && npm publish",
            "git bisect run git push",
            "xargs git push",
            "find . -exec git push \\;",
            "curl x <<EOF;\nEOF\ngit push\nEOF;",
            "eval -- 'git push'",
            "git svn dcommit",
            "git subtree push x",
            "git send-pack x",
            "git p4 submit",
            "git -c alias.x=push x",
            "deno publish",
            "mvn deploy",
            "dotnet nuget push x",
            "mix hex.publish",
        ],
    );
    assert!(
        assess("ls", &Around { root: "/w".into(), folder: "/w".into(), ..Around::default() }, true).class
            == Class::Reach
    );
}

#[test]
fn wrapping_never_lowers_a_class() {
    let texts = ["ls", "cargo test", "rm a", "curl x", "git push", "echo > b", "sed -i s/a/b/ c"];
    let wraps: [fn(&str) -> String; 12] = [
        |t| format!("env A=b sh -c '{t}'"),
        |t| format!("( {t} )"),
        |t| format!("{{ {t}; }}"),
        |t| format!("if true; then {t}; fi"),
        |t| format!("for x in 1 2; do {t}; done"),
        |t| format!("true && {t} || false"),
        |t| format!("echo \"$( {t} )\""),
        |t| format!("cat <( {t} )"),
        |t| format!("timeout 9 nice bash -c '{t}'"),
        |t| format!("{t} | cat"),
        |t| format!("eval '{t}'"),
        |t| format!("! {t} &"),
    ];
    for text in texts {
        for outer in &wraps {
            assert!(class(&outer(text)) >= class(text), "{}", outer(text));
            for inner in &wraps {
                // Quotes within quotes end them: such a text is another one.
                let whole = outer(&inner(text));
                if whole.matches('\'').count() <= 2 {
                    assert!(class(&whole) >= class(text), "{whole}");
                }
            }
        }
    }
}

#[test]
fn parts_are_named_with_what_they_would_touch() {
    let found = of("rm -rf gen && cp a b && echo x > out");
    let texts: Vec<_> = found.parts.iter().map(|part| (part.text.as_str(), part.class)).collect();
    assert_eq!(
        texts,
        [("rm -rf gen", Class::Harm), ("cp a b", Class::Work), ("echo x", Class::Read), ("> out", Class::Work)]
    );
    assert_eq!(found.parts[0].targets, [Target::Removed("gen".into())]);
    assert_eq!(found.parts[1].targets, [Target::Onto("b".into(), "a".into())]);
    assert_eq!(found.parts[3].targets, [Target::Over("out".into())]);
    assert_eq!(found.parts[3].reason, Reason::Writes);
    assert_eq!(found.reason(), Reason::Removes);
}

proptest::proptest! {
    #[test]
    fn any_text_has_a_class(text in "[a-z $(){}<>|&;'\"`\\\\\\n-]{0,60}") {
        let found = of(&text);
        proptest::prop_assert!(found.unknown.is_none() || found.class >= Class::Harm);
    }

    #[test]
    fn what_follows_a_harmful_command_never_lowers_it(text in "[a-z $(){}<>|&;'\"`\\\\\\n#-]{0,40}") {
        proptest::prop_assert!(class(&format!("rm -rf a; {text}")) >= Class::Harm, "{text}");
    }
}

#[test]
fn a_file_that_acts_later_is_noted_by_its_path_in_the_workspace() {
    let noted = |text: &str| of(text).acts_later;
    for (text, path) in [
        ("echo x > AGENTS.md", "sub/AGENTS.md"),
        ("echo x > ../AGENTS.md", "AGENTS.md"),
        ("cd .. && echo x > AGENTS.md", "AGENTS.md"),
        ("cd a && cp b AGENTS.md", "sub/a/AGENTS.md"),
        ("cd a; cd b; touch /w/.github/x", ".github/x"),
        ("cd .github && touch x", "sub/.github/x"),
        ("make & cd a; echo x > AGENTS.md", "sub/a/AGENTS.md"),
        // No path of the workspace: the kernel's call is asked for again.
        ("cd $x && echo x > AGENTS.md", "…/AGENTS.md"),
        ("cd && echo x > AGENTS.md", "…/AGENTS.md"),
        ("cd - && cd a && echo x > AGENTS.md", "…/AGENTS.md"),
        ("pushd a && popd && echo x > AGENTS.md", "…/AGENTS.md"),
        ("(cd a && make); echo x > AGENTS.md", "…/AGENTS.md"),
        ("cd a | cat; echo x > AGENTS.md", "…/AGENTS.md"),
        ("cd a & echo x > AGENTS.md", "…/AGENTS.md"),
        ("cd a && make & echo x > AGENTS.md", "…/AGENTS.md"),
        ("if true; then cd a; fi > log & echo x > AGENTS.md", "…/AGENTS.md"),
        ("bash -c 'cd a'; echo x > AGENTS.md", "…/AGENTS.md"),
        ("patch -d a AGENTS.md p", "sub/a/AGENTS.md"),
        ("patch AGENTS.md ../AGENTS.md", "sub/AGENTS.md"),
        ("git -C .. config a b", ".git/config"),
        ("git -c x.y=z -C a -C b config a b", "sub/a/b/.git/config"),
    ] {
        let found = noted(text);
        assert!(!found.is_empty() && found.iter().all(|own| own == path), "{text}: {found:?}");
    }
    for text in ["cat .github/workflows/ci.yml && npm test", "ls .git/hooks; make", "cd a && cat AGENTS.md"] {
        assert_eq!(noted(text), [""; 0], "{text}");
    }
}

#[test]
fn folders_that_are_archived_too_are_not_outside() {
    let around = Around { root: "/w".into(), folder: "/w".into(), kept: vec!["/more".into()] };
    let class = |text: &str| assess(text, &around, false).class;
    for text in ["touch /more/a", "cp a /more/d/b", "mkdir -p /more/d/e", "echo z >> /more/a"] {
        assert_eq!(class(text), Class::Work, "{text}");
    }
    assert_eq!(class("rm /more/a"), assess("rm a", &around, false).class);
    assert_eq!(class("touch /more-of/a"), Class::Reach);
}

#[test]
fn what_stays_on_this_machine_needs_no_network() {
    for (text, needs) in [
        ("curl http://127.0.0.1:8910/", false),
        ("curl -s localhost:3000/x", false),
        ("wget 'http://[::1]:80/'", false),
        ("curl http://example.com/", true),
        ("curl http://127.0.0.1.example.com/", true),
        ("curl -x localhost:1 http://example.com/", true),
        ("curl $URL", true),
        ("git fetch", true),
        ("git clone . copy", false),
        ("git -C x fetch ../other main", false),
        ("git clone https://example.com/x.git .", true),
        ("git clone -q x y", false),
        ("git clone -q --bare ../x y.git", false),
        ("git fetch -q ../x", false),
        ("git fetch x", true),
        ("git clone -q --depth 1 ./x", false),
        ("git clone --depth=1 -b main file:///srv/x", false),
        ("git clone -- x y", false),
        ("git clone -u prog ./x", true),
        ("git clone -c a.b=c ./x", true),
        ("git clone --recurse-submodules ./x", true),
        ("git clone -b $branch ./x", true),
        ("git pull --rebase ../x main", false),
        ("git pull -s ours -X theirs ../x", false),
        ("git fetch -4 ../x", false),
        ("git fetch --all ../x", true),
        ("git fetch -o ../x", true),
        ("git pull x main", true),
        ("git clone ./x y -u prog", true),
        ("git fetch ../x --all", true),
        ("git fetch ../x main --prune", false),
        ("git clone -b main https://example.com/x.git", true),
        ("git clone host:x", true),
        ("git clone --depth 1 https://example.com/x.git", true),
        ("git clone .x:y", true),
        ("git remote add up https://example.com/x.git", false),
        ("git remote add -f up https://example.com/x.git", true),
        ("git remote update", true),
        ("git submodule add https://example.com/x.git", true),
        ("npm ci --offline", false),
        ("cargo fetch --offline", false),
        ("npm ci --prefer-offline", true),
    ] {
        assert_eq!(of(text).needs_network(), needs, "{text}");
    }
    for (text, class) in [
        ("curl -s http://127.0.0.1:8910/x | head -3", Class::Work),
        ("curl http://127.0.0.1:1/ && curl http://example.com/", Class::Reach),
        ("curl http://localhost@example.com/", Class::Reach),
        ("sudo curl http://localhost/", Class::Reach),
        ("rm -r a; curl localhost", Class::Harm),
        ("git push http://localhost/x", Class::Final),
    ] {
        let mut found = of(text);
        found.stay_on_this_machine();
        assert_eq!(found.class, class, "{text}");
    }
}
