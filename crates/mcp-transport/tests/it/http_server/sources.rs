//! The `Host` and `Origin` of requests in many spellings, as bytes on a connection.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::{Server, soon};

/// The status of the answer to a request with these headers.
async fn status(server: &Server, headers: &[u8]) -> String {
    let mut request =
        b"POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\n\
        MCP-Protocol-Version: 2026-07-28\r\nContent-Length: 7\r\n"
            .to_vec();
    request.extend_from_slice(headers);
    request.extend_from_slice(b"\r\necho hi");
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(&request).await.unwrap();
    let mut answer = Vec::new();
    let _ = soon(stream.read_to_end(&mut answer)).await;
    String::from_utf8_lossy(&answer).chars().skip(9).take(3).collect()
}

#[tokio::test]
async fn no_spelling_of_a_foreign_host_is_served() {
    let server = Server::start().await;
    for host in [
        "",
        " ",
        "evil.example",
        "EVIL.EXAMPLE",
        "evil.example:80",
        "evil.example.",
        "localhost.evil.example",
        "localhost.",
        "localhost..",
        ".localhost",
        "xlocalhost",
        "localhostx",
        "sub.localhost",
        "local-host",
        "localhost@evil.example",
        "localhost:80@evil.example",
        "evil.example@localhost",
        "evil.example:80@localhost:80",
        "localhost/evil.example",
        "evil.example/localhost",
        "evil.example#localhost",
        "evil.example?localhost",
        "evil.example\\localhost",
        "localhost, evil.example",
        "evil.example, localhost",
        "localhost evil.example",
        "localhost\tevil.example",
        "localhost;evil.example",
        "localhost:80:90",
        "localhost:x",
        "localhost:-1",
        "localhost:80x",
        "127.0.0.1.evil.example",
        "127.0.0.1.",
        "127.0.0",
        "127.1",
        "0127.0.0.1",
        "0x7f.0.0.1",
        "2130706433",
        "0.0.0.0",
        "128.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "[::]",
        "[::2]",
        "[::ffff:10.0.0.1]",
        "[fe80::1]",
        "[::1",
        "::1]",
        "[::1].evil.example",
        "[::1%25eth0]",
        "[[::1]]",
        "[localhost]",
        "*",
        "null",
        "http://localhost",
        "//localhost",
        "%6c%6f%63%61%6c%68%6f%73%74",
        "localhost%00.evil.example",
        "localhost%2eevil.example",
        "lоcalhost.example",
    ] {
        let status = status(&server, format!("Host: {host}\r\n").as_bytes()).await;
        assert!(matches!(&*status, "400" | "403"), "{host}: {status}");
    }
    for headers in [
        &b"Host: localhost\r\nHost: evil.example\r\n"[..],
        b"Host: evil.example\r\nhost: localhost\r\n",
        b"Host : localhost\r\n",
        b" Host: localhost\r\n",
        b"Host: localhost\r\n evil.example\r\n",
        b"Host: localhost\xff\r\n",
        b"Host: localhost\0\r\n",
        b"X-Forwarded-Host: localhost\r\nHost: evil.example\r\n",
        b"Forwarded: host=localhost\r\nHost: evil.example\r\n",
    ] {
        let status = status(&server, headers).await;
        let shown = String::from_utf8_lossy(headers);
        assert!(matches!(&*status, "400" | "403"), "{shown}: {status}");
    }
}

#[tokio::test]
async fn no_spelling_of_a_foreign_origin_is_served() {
    let server = Server::start().await;
    for origin in [
        "",
        "null",
        "Null",
        "*",
        "localhost",
        "127.0.0.1",
        "//localhost",
        "http:localhost",
        "http:/localhost",
        "http:///localhost",
        "http:\\\\localhost",
        "http//localhost",
        "://localhost",
        "file://",
        "file://localhost",
        "ftp://localhost",
        "ws://localhost",
        "javascript://localhost",
        "chrome-extension://localhost",
        "data:text/html,localhost",
        "blob:http://localhost",
        "view-source:http://localhost",
        "httpx://localhost",
        "xhttp://localhost",
        "http://evil.example",
        "https://evil.example",
        "http://evil.example:80",
        "http://evil.example/localhost",
        "http://evil.example#localhost",
        "http://evil.example?localhost",
        "http://evil.example\\localhost",
        "http://evil.example%2flocalhost",
        "http://localhost.evil.example",
        "http://localhost.",
        "http://.localhost",
        "http://sub.localhost",
        "http://localhostx",
        "http://localhost@evil.example",
        "http://localhost:80@evil.example",
        "http://localhost:x@evil.example",
        "http://evil.example@localhost",
        "http://localhost/evil.example",
        "http://localhost:80/",
        "http://localhost, http://evil.example",
        "http://evil.example, http://localhost",
        "http://localhost http://evil.example",
        "http://evil.example http://localhost",
        "http://localhost:80:90",
        "http://localhost:x",
        "http://127.0.0.1.evil.example",
        "http://127.1",
        "http://2130706433",
        "http://0.0.0.0",
        "http://10.0.0.1",
        "http://[::]",
        "http://[::2]",
        "http://[::1",
        "http://[::1].evil.example",
        "http://[localhost]",
        "http://http://localhost",
        "http://*",
        "http://*.localhost",
        "http://%6c%6f%63%61%6c%68%6f%73%74",
        "http://localhost%00.evil.example",
    ] {
        let headers = format!("Host: localhost\r\nOrigin: {origin}\r\n");
        assert_eq!(status(&server, headers.as_bytes()).await, "403", "{origin}");
    }
    for headers in [
        &b"Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil.example\r\n"[..],
        b"Host: localhost\r\norigin: http://evil.example\r\nORIGIN: http://localhost\r\n",
        b"Host: localhost\r\nOrigin: http://localhost\xff\r\n",
        b"Host: localhost\r\nOrigin: http://localhost\r\n evil.example\r\n",
    ] {
        let status = status(&server, headers).await;
        let shown = String::from_utf8_lossy(headers);
        assert!(matches!(&*status, "400" | "403"), "{shown}: {status}");
    }
}

#[tokio::test]
async fn local_spellings_are_served() {
    let server = Server::start().await;
    for host in [
        "localhost",
        "LOCALHOST",
        "LocalHost:80",
        "127.0.0.1",
        "127.0.0.1:65535",
        "127.9.9.9",
        "[::1]",
        "[::1]:8080",
        "[0:0:0:0:0:0:0:1]",
        "[0000::0001]:1",
        "\tlocalhost ",
    ] {
        assert_eq!(status(&server, format!("Host: {host}\r\n").as_bytes()).await, "200", "{host}");
    }
    for origin in [
        "http://localhost",
        "https://localhost",
        "http://LOCALHOST:3000",
        "http://127.0.0.1",
        "https://127.0.0.1:8443",
        "http://[::1]",
        "http://[::1]:5173",
    ] {
        let headers = format!("Host: localhost\r\nOrigin: {origin}\r\n");
        assert_eq!(status(&server, headers.as_bytes()).await, "200", "{origin}");
    }
}
