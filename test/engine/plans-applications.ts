import { goServer } from '../support/go-server.ts'

/** A program that answers `hello from` and its user's id. */
export interface SmallApplication {
  files: Record<string, string>
  /** The exit code after SIGTERM: 137 would be a kill. */
  exitCodes: number[]
  /** Its build takes a minute on a slow machine: it only runs with all tests. */
  isSlow?: true
}

/** Ended by the signal itself, or by a handler. */
const TERMINATED = [0, 143]

/** One for each plan whose base image the test stand has, by the plan's name; none needs a package that the image lacks. */
export const APPLICATIONS: Record<string, SmallApplication> = {
  go: {
    files: {
      'go.mod': 'module example.com/hello\n\ngo 1.19\n',
      'cmd/hello/main.go': goServer('', `"hello from " + strconv.Itoa(syscall.Getuid())`),
    },
    // A Go program that does not handle the signal exits with 2 or by the signal.
    exitCodes: [2, 143],
    isSlow: true,
  },
  python: {
    files: {
      'requirements.txt': 'flask\ngunicorn\n',
      'app.py': `import os
from flask import Flask

app = Flask(__name__)

@app.get('/')
def hello():
    return f'hello from {os.getuid()}'
`,
    },
    exitCodes: TERMINATED,
  },
  ruby: {
    files: {
      Gemfile: 'source "https://rubygems.org"\n',
      // Bundler refuses one that was made only on other machines.
      'Gemfile.lock':
        'GEM\n  remote: https://rubygems.org/\n  specs:\n\nPLATFORMS\n  arm64-darwin-23\n\nDEPENDENCIES\n\nBUNDLED WITH\n   2.3.7\n',
      Procfile: 'web: bundle exec ruby server.rb\n',
      'server.rb': `require 'socket'
Signal.trap('TERM') { exit 0 }
server = TCPServer.new('0.0.0.0', ENV.fetch('PORT'))
loop do
  client = server.accept
  client.gets
  body = "hello from #{Process.uid}"
  client.write "HTTP/1.1 200 OK\\r\\nContent-Length: #{body.bytesize}\\r\\nConnection: close\\r\\n\\r\\n#{body}"
  client.close
end
`,
    },
    exitCodes: TERMINATED,
  },
  shell: {
    files: {
      'start.sh': '#!/bin/bash\nexec perl server.pl\n',
      'server.pl': `use IO::Socket::INET;
my $server = IO::Socket::INET->new(LocalPort => $ENV{PORT}, Listen => 5, ReuseAddr => 1) or die "$!";
while (my $client = $server->accept) {
  <$client>;
  print $client "HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\nhello from $<";
  close $client;
}
`,
    },
    exitCodes: TERMINATED,
    isSlow: true,
  },
  cpp: {
    files: {
      'CMakeLists.txt':
        'cmake_minimum_required(VERSION 3.18)\nproject(hello C)\nadd_executable(${PROJECT_NAME} main.c)\n',
      'main.c': `#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void end(int number) { _exit(0); }

int main(void) {
  struct sockaddr_in address = { AF_INET, htons(atoi(getenv("PORT"))) };
  int server = socket(AF_INET, SOCK_STREAM, 0);
  signal(SIGTERM, end);
  if (bind(server, (struct sockaddr *)&address, sizeof address) || listen(server, 5)) return 1;
  for (;;) {
    char text[2048];
    int client = accept(server, 0, 0);
    if (client < 0 || read(client, text, sizeof text) < 0) continue;
    dprintf(client, "HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\nhello from %d", getuid());
    close(client);
  }
}
`,
    },
    exitCodes: TERMINATED,
    isSlow: true,
  },
  php: {
    // Many programs read the service's variables only there.
    files: {
      'public/index.php':
        '<?php echo "hello from " . (isset($_ENV["PORT"]) ? posix_getuid() : "nobody with a port");\n',
    },
    exitCodes: TERMINATED,
    isSlow: true,
  },
  bun: {
    files: {
      'package.json': JSON.stringify({ name: 'hello', packageManager: 'bun@1', main: 'index.ts' }),
      'index.ts': `Bun.serve({ port: Number(process.env.PORT), fetch: () => new Response('hello from ' + process.getuid!()) })\n`,
    },
    exitCodes: TERMINATED,
  },
  deno: {
    files: {
      'deno.json': '{}',
      'package.json': '{}',
      'main.ts': `Deno.serve({ port: Number(Deno.env.get('PORT')) }, () => new Response('hello from ' + Deno.uid()))\n`,
    },
    exitCodes: TERMINATED,
  },
  rust: {
    files: {
      'Cargo.toml': '[package]\nname = "hello"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/main.rs': `use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;

fn main() {
    let port = std::env::var("PORT").unwrap();
    let listener = std::net::TcpListener::bind(format!("0.0.0.0:{port}")).unwrap();
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let body = format!("hello from {}", std::fs::metadata("/proc/self").unwrap().uid());
        let _ = write!(stream, "HTTP/1.1 200 OK\\r\\nContent-Length: {}\\r\\nConnection: close\\r\\n\\r\\n{body}", body.len());
    }
}
`,
    },
    exitCodes: TERMINATED,
  },
  elixir: {
    files: {
      'mix.exs': `defmodule Hello.MixProject do
  use Mix.Project
  def project, do: [app: :hello, version: "0.1.0"]
  def application, do: [extra_applications: [:logger], mod: {Hello, []}]
end
`,
      'lib/hello.ex': `defmodule Hello do
  use Application

  def start(_type, _arguments) do
    port = String.to_integer(System.fetch_env!("PORT"))
    {:ok, listener} = :gen_tcp.listen(port, [:binary, active: false, reuseaddr: true])
    Supervisor.start_link([{Task, fn -> serve(listener) end}], strategy: :one_for_one)
  end

  defp serve(listener) do
    {:ok, client} = :gen_tcp.accept(listener)
    {:ok, _request} = :gen_tcp.recv(client, 0)
    {user, 0} = System.cmd("id", ["-u"])
    body = "hello from " <> String.trim(user)
    head = "HTTP/1.1 200 OK\\r\\nContent-Length: #{byte_size(body)}\\r\\nConnection: close\\r\\n\\r\\n"
    :gen_tcp.send(client, head <> body)
    :gen_tcp.close(client)
    serve(listener)
  end
end
`,
    },
    exitCodes: TERMINATED,
  },
}

/** A program with an embedded page, which the script `build` of a package.json next to it creates. */
export const EMBEDDING: Record<string, string> = {
  'go.mod': 'module example.com/inbox\n\ngo 1.19\n',
  'main.go': 'package main\n\nimport "example.com/inbox/web"\n\nfunc main() { web.Print() }\n',
  'web/embed.go': `package web

import (
	"embed"
	"fmt"
)

//go:embed dist/*
var pages embed.FS

func Print() {
	page, _ := pages.ReadFile("dist/index.html")
	fmt.Print(string(page))
}
`,
  'web/package.json': JSON.stringify({
    name: 'web',
    version: '1.0.0',
    scripts: { build: 'mkdir -p dist && node -p "require(\'page\')" > dist/index.html' },
    devDependencies: { page: 'file:page' },
  }),
  'web/page/package.json': '{ "name": "page", "version": "1.0.0" }',
  'web/page/index.js': "module.exports = '<h1>an inbox</h1>'\n",
  '.gitignore': 'dist\nnode_modules\n',
}

/** A Vite site without its compiler: the plan only looks at names. */
export const SITE: Record<string, string> = {
  'package.json': JSON.stringify({
    scripts: { build: 'node build.js' },
    devDependencies: { vite: 'file:./vite' },
  }),
  'vite/package.json': JSON.stringify({ name: 'vite', version: '1.0.0' }),
  'vite.config.js': "export default { build: { outDir: 'public_html' } }\n",
  'build.js': `const { mkdirSync, writeFileSync } = require('node:fs')
mkdirSync('public_html')
writeFileSync('public_html/index.html', process.env.COLOUR)
`,
}
