use std::{env, ffi::OsStr, path::Path};

/// Whether a program exists, without starting it. True if that cannot be determined.
pub(super) fn is_there(program: &OsStr) -> bool {
    let path = Path::new(program);
    if cfg!(not(unix)) {
        // On Windows the extension may be left out.
        return true;
    }
    if path.components().count() > 1 || path.is_absolute() {
        return path.is_file();
    }
    let Some(folders) = env::var_os("PATH") else { return true };
    env::split_paths(&folders).any(|folder| folder.join(path).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn programs_are_looked_for_where_they_would_be_started_from() {
        for (program, expected) in [
            ("sh", true),
            ("/bin/sh", true),
            ("no-such-server", false),
            ("/no/such/server", false),
            // Directories are not programs.
            ("/bin", false),
            ("./no-such-server", false),
        ] {
            assert_eq!(is_there(program.as_ref()), expected, "{program}");
        }
    }
}
