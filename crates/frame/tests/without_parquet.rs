//! Parquet files in a build without the feature. A separate binary: all other tests run with the
//! feature, and `scripts/check` builds this one without it.

#![cfg(not(feature = "parquet"))]

use ridgewalk_frame::Table;

#[test]
fn without_parquet_the_message_says_how_to_get_it() {
    let dir = tempfile::tempdir().unwrap();
    for (file, bytes) in [("d.parquet", &b"anything"[..]), ("d.csv", b"PAR1....")] {
        let path = dir.path().join(file);
        std::fs::write(&path, bytes).unwrap();
        let message = Table::read(&path).unwrap_err().to_string();
        assert!(message.contains("found a Parquet file"), "{message}");
        assert!(
            message.contains("cargo install --path crates/cli --features parquet"),
            "{message}"
        );
    }
}
