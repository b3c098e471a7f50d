//! The program against a server that speaks TLS: trusted, signed by someone unknown, and under another name.
//!
//! `fixtures/tls` holds a certificate for `localhost` with its key, good for these tests alone, the authority that
//! signed it (`ca.pem`) and one that did not (`other.pem`). They are good from 2000 to 2126, so that no clock spoils them.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::support::mock_server::saying;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls").join(name)
}

/// Answers every request on a free port of loopback, as long as the tests run; the port.
fn server() -> u16 {
    let certificate = CertificateDer::from_pem_file(fixture("server.pem")).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(fixture("server.key")).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
    let config = config.with_no_client_auth().with_single_cert(vec![certificate], key).expect("a configuration");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let config = Arc::clone(&config);
            // A client that does not trust the certificate goes away in the middle.
            std::thread::spawn(move || {
                let connection = ServerConnection::new(config).expect("a connection");
                let _ = answer(StreamOwned::new(connection, stream));
            });
        }
    });
    port
}

/// Reads one request and answers it.
fn answer(stream: StreamOwned<ServerConnection, std::net::TcpStream>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if let Some(n) = line.to_lowercase().strip_prefix("content-length:") {
            length = n.trim().parse().unwrap_or(0);
        }
        if line == "\r\n" {
            break;
        }
    }
    std::io::copy(&mut std::io::Read::take(&mut stream, length), &mut std::io::sink())?;
    let body = saying("Hello over TLS.");
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
    let mut stream = stream.into_inner();
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len())?;
    stream.conn.send_close_notify();
    stream.flush()
}

/// One turn with a server under a name, trusting whom a file of certificates names: exit code, output, complaints.
fn task(name: &str, port: u16, trusted: &str) -> (Option<i32>, String, String) {
    let dir = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
    command.args(["task", "hi"]).current_dir(dir.path()).env_clear();
    command.env("HOME", dir.path()).env("OPENAI_API_KEY", "k").env("SSL_CERT_FILE", fixture(trusted));
    command.env("OPENAI_BASE_URL", format!("https://{name}:{port}/v1"));
    let output = command.output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_certificate_that_is_trusted_lets_an_answer_through() {
    let (code, out, err) = task("localhost", server(), "ca.pem");
    assert_eq!((code, out.as_str()), (Some(0), "Hello over TLS.\n"), "{err}");
}

#[test]
fn a_certificate_that_is_not_trusted_is_reported_with_its_cause_at_once() {
    let port = server();
    for (name, trusted, why) in [
        ("localhost", "other.pem", "no authority this computer trusts has signed it"),
        ("127.0.0.1", "ca.pem", "it is another server's"),
    ] {
        let (code, out, err) = task(name, port, trusted);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
        let says = format!("nebula: untrusted certificate of {name}:{port}: {why}");
        assert!(err.starts_with(&says) && err.contains("SSL_CERT_FILE"), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
}
