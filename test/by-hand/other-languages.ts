import { WITH_GO, WITH_PYTHON, WITH_RUBY, WITH_RUST, type ByHandCase } from './case.ts'
import { wheel } from './wheel.ts'
import { goServer } from '../support/go-server.ts'

/** A Python program that answers with the value of an expression. */
const pythonServer = (imports: string, expression: string): string => `import os
from http.server import BaseHTTPRequestHandler, HTTPServer
${imports}

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(str(${expression}).encode())

HTTPServer(('0.0.0.0', int(os.environ['PORT'])), Handler).serve_forever()
`

export const ACME = wheel('acme', '1.0', `text = 'from a wheel'\n`)
export const WHEEL = 'acme-1.0-py3-none-any.whl'
export const SERVER = pythonServer('import acme', 'acme.text')
const FROM_FILE = 'pip install -q -r requirements.txt'

const pythonCases = (cases: Omit<ByHandCase, 'place' | 'start'>[]): ByHandCase[] =>
  cases.map((each) => ({ ...each, place: WITH_PYTHON, start: 'python main.py' }))

/** Python programs. */
export const PYTHON: ByHandCase[] = pythonCases([
  {
    title: 'a package comes from a file of the tree, named without any prefix',
    files: { 'requirements.txt': `wheels/${WHEEL}\n`, [`wheels/${WHEEL}`]: ACME, 'main.py': SERVER },
    commands: FROM_FILE,
    isFirst: true,
  },
  {
    title: 'packages come from a folder of the tree',
    files: {
      'requirements.txt': '--no-index\n--find-links vendor/wheels\nacme==1.0\n',
      [`vendor/wheels/${WHEEL}`]: ACME,
      'main.py': SERVER,
    },
    commands: FROM_FILE,
  },
  {
    title: 'a file of requirements names another one, and that a file of constraints',
    files: {
      'requirements.txt': '-r requirements/base.txt\n',
      'requirements/base.txt': `-c limits/all.txt\n./wheels/${WHEEL}\n`,
      'requirements/limits/all.txt': 'acme<2\n',
      [`wheels/${WHEEL}`]: ACME,
      'main.py': SERVER,
    },
    commands: FROM_FILE,
  },
])

export const LIB_SERVER = goServer('\t"example.com/lib"', 'lib.Text')
export const LIB = `package lib

const Text = "from the library"
`
export const USES_LIB = 'module example.com/app\n\ngo 1.19\n\nrequire example.com/lib v0.0.0\n'

/** Go programs. */
export const GO: ByHandCase[] = [
  {
    title: 'a module is replaced by a folder of the tree',
    files: {
      'go.mod': `${USES_LIB}\nreplace example.com/lib => ./libs/lib\n`,
      'cmd/web/main.go': LIB_SERVER,
      'libs/lib/go.mod': 'module example.com/lib\n\ngo 1.19\n',
      'libs/lib/lib.go': LIB,
    },
    place: WITH_GO,
    commands: 'go build -o server ./cmd/web',
    start: './server',
    isFirst: true,
  },
  {
    title: 'a module comes from the vendor folder',
    files: {
      'go.mod': USES_LIB,
      'main.go': LIB_SERVER,
      'vendor/modules.txt': '# example.com/lib v0.0.0\n## explicit\nexample.com/lib\n',
      'vendor/example.com/lib/lib.go': LIB,
    },
    place: WITH_GO,
    commands: 'go build -o server .',
    start: './server',
  },
  {
    title: 'a text of the tree is embedded',
    files: {
      'go.mod': 'module example.com/app\n\ngo 1.19\n',
      'main.go': goServer('\t_ "embed"', 'page').replace(
        'func main',
        '//go:embed pages/index.html\nvar page string\n\nfunc main',
      ),
      'pages/index.html': '<h1>embedded</h1>',
    },
    place: WITH_GO,
    commands: 'go build -o server .',
    start: './server',
  },
]

/** Ruby programs. */
export const RUBY: ByHandCase[] = [
  {
    title: 'a gem comes from a folder of the tree',
    files: {
      Gemfile: "source 'https://rubygems.org'\ngem 'acme', path: 'gems/acme'\n",
      Procfile: 'web: bundle exec ruby server.rb\n',
      'gems/acme/acme.gemspec': `Gem::Specification.new do |gem|
  gem.name = 'acme'
  gem.version = '1.0.0'
  gem.summary = 'a text'
  gem.authors = ['Ada']
  gem.files = ['lib/acme.rb']
end
`,
      'gems/acme/lib/acme.rb': "module Acme\n  TEXT = 'from a gem'\nend\n",
      'server.rb': `require 'socket'
require 'acme'
Signal.trap('TERM') { exit 0 }
server = TCPServer.new('0.0.0.0', ENV.fetch('PORT'))
loop do
  client = server.accept
  client.gets
  client.write "HTTP/1.1 200 OK\\r\\nContent-Length: #{Acme::TEXT.bytesize}\\r\\nConnection: close\\r\\n\\r\\n#{Acme::TEXT}"
  client.close
end
`,
    },
    place: WITH_RUBY,
    commands: 'bundle install',
    start: 'bundle exec ruby server.rb',
  },
]

export const rustPackage = (name: string, more = ''): string =>
  `[package]\nname = "${name}"\nversion = "0.1.0"\nedition = "2021"\n${more}`

/** Rust programs. */
export const RUST: ByHandCase[] = [
  {
    title: 'a build script makes code of a file of the tree, and a crate comes from a folder of it',
    files: {
      'Cargo.toml': rustPackage('hello', '\n[dependencies]\nacme = { path = "crates/acme" }\n'),
      'build.rs': `fn main() {
    let text = std::fs::read_to_string("data/text.txt").unwrap();
    let path = std::path::Path::new(&std::env::var("OUT_DIR").unwrap()).join("text.rs");
    std::fs::write(path, format!("const TEXT: &str = {text:?};")).unwrap();
}
`,
      'data/text.txt': 'made by a script',
      'crates/acme/Cargo.toml': rustPackage('acme'),
      'crates/acme/src/lib.rs': 'pub fn loud(text: &str) -> String { text.to_uppercase() }\n',
      'src/main.rs': `use std::io::{Read, Write};
include!(concat!(env!("OUT_DIR"), "/text.rs"));

fn main() {
    let port = std::env::var("PORT").unwrap();
    let listener = std::net::TcpListener::bind(format!("0.0.0.0:{port}")).unwrap();
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let body = acme::loud(TEXT);
        let head = format!("HTTP/1.1 200 OK\\r\\nContent-Length: {}\\r\\nConnection: close", body.len());
        let _ = write!(stream, "{head}\\r\\n\\r\\n{body}");
    }
}
`,
    },
    place: WITH_RUST,
    commands: 'cargo build --release',
    start: './target/release/hello',
  },
]
