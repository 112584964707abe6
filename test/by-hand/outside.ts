import { IN_WEB, WITH_DENO, WITH_GO, WITH_PYTHON, WITH_RUST, type ByHandCase } from './case.ts'
import { ACME, LIB, LIB_SERVER, rustPackage, SERVER, USES_LIB, WHEEL } from './other-languages.ts'

const GO_PROGRAM = { commands: 'cd apps/web && go build -o server .', start: 'cd apps/web && ./server' }
const GO_LIB = { 'libs/lib/go.mod': 'module example.com/lib\n\ngo 1.19\n', 'libs/lib/lib.go': LIB }

/** Programs in a folder whose manifest, or whose tool, reads what is outside of it. */
export const OUTSIDE: ByHandCase[] = [
  {
    title: 'a module is replaced by a folder outside of root_dir',
    files: {
      'apps/web/go.mod': `${USES_LIB}\nreplace example.com/lib => ../../libs/lib\n`,
      'apps/web/main.go': LIB_SERVER,
      ...GO_LIB,
    },
    fields: IN_WEB,
    place: WITH_GO,
    ...GO_PROGRAM,
  },
  {
    title: 'a workspace of Go is above root_dir',
    files: {
      'go.work': 'go 1.19\n\nuse (\n\t./apps/web\n\t./libs/lib\n)\n',
      'apps/web/go.mod': 'module example.com/app\n\ngo 1.19\n',
      'apps/web/main.go': LIB_SERVER,
      ...GO_LIB,
    },
    fields: IN_WEB,
    place: WITH_GO,
    ...GO_PROGRAM,
  },
  {
    title: 'requirements name constraints and an archive above root_dir',
    files: {
      'apps/limits.txt': 'acme==1.0\n',
      [`wheels/${WHEEL}`]: ACME,
      'apps/web/requirements.txt': `--no-index\n-c ../limits.txt\n../../wheels/${WHEEL}\n`,
      'apps/web/main.py': SERVER,
    },
    fields: IN_WEB,
    place: WITH_PYTHON,
    commands: 'cd apps/web && pip install -q -r requirements.txt',
    start: 'cd apps/web && python main.py',
  },
  {
    title: 'a crate is a member of the workspace above root_dir',
    files: {
      'Cargo.toml': '[workspace]\nmembers = ["apps/*", "crates/*"]\n',
      'text.txt': 'from the workspace',
      'crates/acme/Cargo.toml': rustPackage('acme'),
      'crates/acme/src/lib.rs': 'pub const TEXT: &str = include_str!("../../../text.txt");\n',
      'apps/web/Cargo.toml': rustPackage('web', '\n[dependencies]\nacme = { path = "../../crates/acme" }\n'),
      'apps/web/src/main.rs': `use std::io::{Read, Write};

fn main() {
    let port = std::env::var("PORT").unwrap();
    for stream in std::net::TcpListener::bind(format!("0.0.0.0:{port}")).unwrap().incoming() {
        let mut stream = stream.unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let head = format!("HTTP/1.1 200 OK\\r\\nContent-Length: {}\\r\\nConnection: close", acme::TEXT.len());
        let _ = write!(stream, "{head}\\r\\n\\r\\n{}", acme::TEXT);
    }
}
`,
    },
    fields: IN_WEB,
    place: WITH_RUST,
    commands: 'cd apps/web && cargo build --release',
    start: './target/release/web',
  },
  {
    title: 'a member of a workspace of Deno imports another one',
    files: {
      'deno.json': { workspace: ['./apps/*', './lib'] },
      'lib/deno.json': { name: '@acme/lib', version: '1.0.0', exports: './mod.ts' },
      'lib/mod.ts': "export const text = 'from a member'\n",
      'apps/web/deno.json': { name: '@acme/web', tasks: { start: 'deno run -A main.ts' } },
      'apps/web/main.ts': `import { text } from '@acme/lib'
Deno.serve({ port: Number(Deno.env.get('PORT')), hostname: '0.0.0.0' }, () => new Response(text))
`,
    },
    fields: IN_WEB,
    place: WITH_DENO,
    commands: 'cd apps/web && deno cache main.ts',
    start: 'cd apps/web && deno task start',
  },
]
