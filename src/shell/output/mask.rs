//! Secrets in output: each value that was left out of a command's environment shows as `[NAME]`.

/// Returns a text in which the values of `secrets` (name, value), the longest first, are replaced by their names.
pub fn masked(secrets: &[(String, String)], mut text: String) -> String {
    for (name, value) in secrets {
        if text.contains(value.as_str()) {
            text = text.replace(value.as_str(), &format!("[{name}]"));
        }
    }
    text
}

/// Masks bytes as they come. The beginning of a secret waits until it is known whether it is one.
#[derive(Debug, Clone, Default)]
pub struct Masker {
    secrets: Vec<(String, String)>,
    held: Vec<u8>,
}

impl Masker {
    /// Creates one for these secrets (name, value), the longest first. The lines of a value may end with `\r\n` as well.
    pub fn new(mut secrets: Vec<(String, String)>) -> Self {
        for at in (0..secrets.len()).filter(|at| secrets[*at].1.contains('\n')).collect::<Vec<_>>() {
            let (name, value) = (secrets[at].0.clone(), secrets[at].1.replace("\r\n", "\n"));
            secrets.push((name.clone(), value.replace('\n', "\r\n")));
            secrets.push((name, value));
        }
        secrets.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        Masker { secrets, held: Vec::new() }
    }

    /// Creates one for those of the secrets that have several lines: text that is masked line by line never holds one.
    pub fn of_lines(secrets: &[(String, String)]) -> Self {
        Self::new(secrets.iter().filter(|(_, value)| value.contains('\n')).cloned().collect())
    }

    /// Returns whether it masks nothing.
    pub fn is_idle(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Takes bytes; returns those that are masked and can be shown.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.secrets.is_empty() {
            return bytes.to_vec();
        }
        self.held.extend_from_slice(bytes);
        self.mask(true)
    }

    /// Returns whether the beginning of a secret waits.
    pub fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Returns what waited, once nothing more comes.
    pub fn finish(&mut self) -> Vec<u8> {
        self.mask(false)
    }

    /// Masks what is held; the beginning of a secret is held on where more may come.
    fn mask(&mut self, more: bool) -> Vec<u8> {
        let (mut printed, mut at) = (Vec::with_capacity(self.held.len()), 0);
        while at < self.held.len() {
            let rest = &self.held[at..];
            let begun = |value: &str| value.len() > rest.len() && value.as_bytes().starts_with(rest);
            if more && self.secrets.iter().any(|(_, value)| begun(value)) {
                break;
            }
            match self.secrets.iter().find(|(_, value)| rest.starts_with(value.as_bytes())) {
                Some((name, value)) => {
                    printed.extend(format!("[{name}]").bytes());
                    at += value.len();
                }
                None => {
                    printed.push(self.held[at]);
                    at += 1;
                }
            }
        }
        self.held.drain(..at);
        printed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_masked_however_it_is_cut() {
        let secrets =
            vec![("LONG".to_string(), "secret-value".to_string()), ("KEY".to_string(), "secret-v".to_string())];
        let whole = b"a secret-value b secret-v\nsecret sec";
        for cut in 0..whole.len() {
            let mut masker = Masker::new(secrets.clone());
            let mut printed = masker.take(&whole[..cut]);
            printed.extend(masker.take(&whole[cut..]));
            printed.extend(masker.finish());
            assert_eq!(String::from_utf8_lossy(&printed), "a [LONG] b [KEY]\nsecret sec", "{cut}");
        }
        assert_eq!(Masker::new(secrets).take(b"plain$ "), b"plain$ ");
    }
}
