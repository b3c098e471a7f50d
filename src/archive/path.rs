//! Normalised path → SHA-256 folder.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::workspace::normalise;

/// SHA-256 of bytes.
pub type Sha = [u8; 32];

/// Returns the folder name for a file: SHA-256, in hexadecimal, of its normalised path. All spellings of one path give
/// one name. A folder's path ends in `/`, so that a file of the same name has another.
pub fn calculate_path_sha256(root: &Path, path: &Path) -> String {
    let mut normal = normalise(root, path);
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        normal.push('/');
    }
    hex(&sha256(normal.as_bytes()))
}

/// Returns SHA-256 of bytes.
pub fn sha256(bytes: &[u8]) -> Sha {
    Sha256::digest(bytes).into()
}

/// Returns lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [DIGITS[usize::from(b >> 4)], DIGITS[usize::from(b & 15)]]).map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_give_one_folder() {
        let root = Path::new("/work/project");
        let expected = hex(&sha256(b"src/main.py"));
        for path in ["src/main.py", "./src/main.py", "src/../src/main.py", "/work/project/src/main.py"] {
            assert_eq!(calculate_path_sha256(root, Path::new(path)), expected, "{path}");
        }
        assert_eq!(calculate_path_sha256(root, Path::new("./src/")), hex(&sha256(b"src/")));
        assert_eq!(hex(&sha256(b"abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(calculate_path_sha256(root, Path::new("/etc/hosts")), hex(&sha256(b"/etc/hosts")));
    }
}
