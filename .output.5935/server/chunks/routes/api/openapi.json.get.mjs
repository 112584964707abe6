import { z } from 'zod';
import { a3 as ERRORS, J as useContext } from '../../nitro/nitro.mjs';
import { i as isSchema, t as takesBody, d as defineEndpoint } from '../../_/endpoint.mjs';
import { S as SchemaCollector } from '../../_/schemas.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:util';
import 'node:net';
import 'node:stream';
import 'node:timers/promises';
import '../../_/send.mjs';
import '../../_/compression.mjs';
import 'node:zlib';
import '../../_/validate.mjs';

const EXPLANATIONS = {
  invalid_request: {
    when: "a path, query or body that breaks a rule; the message starts with the path of the field",
    message: "instances: must be at most 32"
  },
  git_application_required: {
    when: "the provider needs an application first: send client_id and client_secret",
    message: "client_id: is required the first time"
  },
  git_authorization_rejected: {
    when: "the git provider or remote refused the credentials",
    message: "the provider refused the token"
  },
  git_provider_unavailable: {
    when: "the git provider did not answer",
    message: "the provider did not answer within 10 s"
  },
  git_remote_unreachable: {
    when: "the git remote did not answer",
    message: "git.example.com did not answer within 10 s"
  },
  unauthorized: {
    when: "credentials are missing, wrong, revoked or expired",
    message: "no valid credentials: send an API token as Authorization: Bearer, or sign in"
  },
  invalid_credentials: {
    when: "a secret in the body is wrong",
    message: "the e-mail address or the password is wrong"
  },
  session_required: {
    when: "an API token where only the dashboard session counts",
    message: "an API token cannot do this: sign in to the dashboard and do it there"
  },
  cross_site_request: {
    when: "a request with the session cookie from another origin than the dashboard's",
    message: "a change with the session cookie must come from this dashboard"
  },
  not_found: {
    when: "what the path, query or body names does not exist",
    message: "there is no service api in production"
  },
  method_not_allowed: {
    when: "the path exists but not with this method; Allow lists the methods it has",
    message: "this path has no PUT"
  },
  conflict: {
    when: "the request conflicts with the present state",
    message: "name: api is in use by service srv-4f1d0c9a7b3e5d2f6a80"
  },
  canceled: {
    when: "the work of this request was cancelled while it waited",
    message: "the deploy was canceled"
  },
  precondition_failed: {
    when: "If-Match or If-Unmodified-Since asks for another content than there is",
    message: "If-Match or If-Unmodified-Since asks for another content than there is"
  },
  payload_too_large: {
    when: "the body is larger than allowed",
    message: "the body is larger than the 2 MiB allowed here"
  },
  range_not_satisfiable: {
    when: "Range begins where nothing is; Content-Range tells the size",
    message: "the range begins beyond the 1048576 bytes that there are"
  },
  misdirected_request: {
    when: "the Host is a name that this server does not go by",
    message: "deploy.example.com is no name of this server: add it with --allowed-hosts"
  },
  too_many_attempts: {
    when: "10 sign-ins failed within 5 minutes",
    message: "too many failed sign-ins; try again in 4 minutes"
  },
  database_error: {
    when: "the database failed; the server log has the cause",
    message: "the disk of the server's data is full: free some space"
  },
  io_error: {
    when: "a file could not be read or written; the server log has the cause",
    message: "the archive could not be stored: no space left on the disk"
  },
  build_failed: {
    when: "a build that the request waited for failed",
    message: "the build failed"
  },
  internal_error: {
    when: "a fault of the server; its log has the cause",
    message: "internal error; see the server log"
  },
  runtime_error: {
    when: "the container engine failed or is out of reach; what was saved is applied later",
    message: "saved; not applied yet: the container engine does not answer"
  },
  service_unavailable: {
    when: "the server has no room for the request at this moment; Retry-After says when to try again",
    message: "the server has no room for this request at this moment: try again in 10 seconds"
  }
};
const ERROR_SCHEMA = {
  type: "object",
  description: "Why a request was refused. Programs rely on the code; the message is for people.",
  properties: {
    error: {
      type: "object",
      properties: {
        code: { type: "string", enum: Object.keys(ERRORS) },
        message: { type: "string" },
        details: {
          type: "array",
          description: "Every fault of a file that was sent, with its place",
          items: {
            type: "object",
            properties: {
              line: { type: "integer" },
              column: { type: "integer" },
              path: { type: "string" },
              message: { type: "string" }
            },
            required: ["line", "column", "path", "message"],
            additionalProperties: false
          }
        }
      },
      required: ["code", "message"],
      additionalProperties: false
    }
  },
  required: ["error"],
  additionalProperties: false
};
function errorExamples(codes) {
  return Object.fromEntries(
    [...codes].map((code) => {
      const { when, message } = EXPLANATIONS[code];
      return [code, { summary: sentence(when), value: { error: { code, message } } }];
    })
  );
}
function errorResponses(codes) {
  const byStatus = /* @__PURE__ */ new Map();
  for (const code of codes) byStatus.set(ERRORS[code], [...byStatus.get(ERRORS[code]) ?? [], code]);
  return Object.fromEntries([...byStatus].map(([status, group]) => [String(status), errorResponse(group)]));
}
function errorResponse(codes) {
  return {
    description: codes.map((code) => `\`${code}\`: ${EXPLANATIONS[code].when}`).join("\n\n"),
    ...headersOf(codes),
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/Error" },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
      }
    }
  };
}
function headersOf([code]) {
  const headers = HEADERS[ERRORS[code]];
  return headers ? { headers } : {};
}
const RETRY_AFTER = {
  "Retry-After": {
    description: "Seconds after which to try again",
    schema: { type: "integer", examples: [10] }
  }
};
const HEADERS = {
  401: {
    "WWW-Authenticate": {
      description: "The scheme of the credentials that are wanted",
      schema: { type: "string", examples: ["Bearer"] }
    }
  },
  429: RETRY_AFTER,
  503: RETRY_AFTER
};
function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

const LOG_STREAM = [
  "event: log",
  'data: {"ts":"2026-01-02T03:04:05.678Z","stream":"stdout","line":"listening on 10000"}',
  "",
  "event: end",
  "data:",
  "",
  ""
].join("\n");
const CHANGE_STREAM = [
  "event: ready",
  "data: {}",
  "",
  "event: change",
  'data: {"kind":"deploy","id":"dep-4f1d0c9a7b3e5d2f6a80","service_id":"srv-4f1d0c9a7b3e5d2f6a80","action":"updated"}',
  "",
  ": keep-alive",
  "",
  ""
].join("\n");
const BLUEPRINT = [
  "# yaml-language-server: $schema=http://localhost:7878/api/blueprint.schema.json",
  "datastores:",
  "  - name: db",
  "    kind: relational",
  "services:",
  "  - name: api",
  "    type: web_service",
  "    repo_url: https://git.example.com/team/api.git",
  "    env:",
  "      - key: DATABASE_URL",
  "        from_datastore:",
  "          name: db",
  ""
].join("\n");
const COMPOSE = ["services:", "  web:", "    image: nginx", "    ports:", "      - 8080:80", ""].join("\n");
function rawExample(contentType, path) {
  if (contentType === "text/event-stream") return path.endsWith("/events") ? CHANGE_STREAM : LOG_STREAM;
  if (contentType === "application/yaml") return path.endsWith("/convert") ? COMPOSE : BLUEPRINT;
  return void 0;
}
function exampleOf(schema, collector) {
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0];
  if (schema.$ref) return exampleOf(collector.resolve(schema), collector);
  if ("const" in schema) return schema.const;
  if ("default" in schema) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return exampleOf(choices.find((choice) => choice.type !== "null") ?? choices[0], collector);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "object") return exampleObject(schema, collector);
  if (type === "array") return schema.items ? [exampleOf(schema.items, collector)] : [];
  if (type === "integer" || type === "number") return schema.minimum ?? 0;
  if (type === "boolean") return false;
  return type === "string" ? "text" : null;
}
function exampleObject(schema, collector) {
  const example = {};
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    example[name] = exampleOf(field, collector);
  }
  const values = schema.additionalProperties;
  if (typeof values === "object" && values !== null && Object.keys(example).length === 0) {
    return { LOG_LEVEL: exampleOf(values, collector) };
  }
  return example;
}

function parametersOf(path, spec, collector) {
  return [...pathParameters(path, spec, collector), ...queryParameters(spec, collector)];
}
function pathParameters(path, spec, collector) {
  const fields = isSchema(spec.params) ? fieldsOf(collector.convert(spec.params, "input"), collector) : {};
  return [...path.matchAll(/\{(\w+)\}/g)].map(
    ([, name]) => parameter("path", name, fields[name] ?? { type: "string" }, true, collector)
  );
}
function queryParameters(spec, collector) {
  if (!isSchema(spec.query)) return [];
  const schema = collector.convert(spec.query, "input");
  const required = collector.resolve(schema).required ?? [];
  return Object.entries(fieldsOf(schema, collector)).map(
    ([name, field]) => parameter("query", name, field, required.includes(name), collector)
  );
}
function parameter(place, name, field, required, collector) {
  const { description = PARAMETERS[name], examples: _, ...schema } = field;
  return {
    name,
    in: place,
    required,
    ...description ? { description } : {},
    schema,
    example: exampleOf(field, collector)
  };
}
const PARAMETERS = {
  id: "Id of the resource",
  deploy_id: "Id of the deploy",
  job_id: "Id of the job run",
  environment: "Id or name of the environment; production when absent",
  follow: "Go on with what is written from now on",
  tail: "How many of the newest lines come first",
  force: "Do it although others refer to it",
  restart: "Restart the live services whose variables changed",
  clear_cache: "Build without cache",
  service_id: "Id of the service",
  key: "The service's deploy hook key",
  repo_url: "Address of a repository that a service can be deployed from",
  level: "The least level of the lines",
  dry_run: "Only tell what it would do",
  branch: "Of the repository; the remote's default branch when absent"
};
function fieldsOf(schema, collector) {
  return collector.resolve(schema).properties ?? {};
}

const TAGS = {
  auth: { name: "Account", description: "Sign-in, sessions, API tokens and the sign-in of terminals" },
  services: { name: "Services", description: "Applications that the server builds and runs" },
  detect: { name: "Services", description: "" },
  deploys: { name: "Deploys", description: "Versions of a service on their way to live, and after" },
  rollback: { name: "Deploys", description: "" },
  env: { name: "Variables", description: "A service's own environment variables" },
  "env-groups": { name: "Env groups", description: "Sets of variables that services share" },
  jobs: { name: "Jobs", description: "Runs of cron jobs and one-off commands" },
  environments: { name: "Environments", description: "Private networks that keep services apart" },
  domains: { name: "Domains", description: "Names under which services are served" },
  certificates: { name: "Domains", description: "" },
  datastores: { name: "Datastores", description: "Databases and key-value stores that the server runs" },
  backups: { name: "Datastores", description: "" },
  blueprints: {
    name: "Blueprints",
    description: "A file that describes services, datastores and env groups"
  },
  git: {
    name: "Git connections",
    description: "Accounts at git providers that repositories are cloned with"
  },
  notifications: { name: "Notifications", description: "Where the server tells what has happened" },
  "log-drains": { name: "Log drains", description: "Where the output of services is sent on to" },
  server: { name: "Server", description: "The server itself: information, health, numbers, log and changes" },
  hooks: { name: "Webhooks", description: "Deploys started from outside, with secrets of their own" }
};
const SERVER = TAGS.server;
function tagOf(path) {
  const words = path.split("/").filter((word) => word !== "" && !word.startsWith("{"));
  if (words[0] === "hooks") return TAGS.hooks;
  if (words.includes("env-groups")) return TAGS["env-groups"];
  const tag = words.map((word) => TAGS[word]).findLast((found) => found !== void 0);
  if (!tag) return SERVER;
  return Object.values(TAGS).find((other) => other.name === tag.name);
}

const PAGES = "/api/docs";
function buildOpenApi(endpoints, info) {
  const collector = new SchemaCollector();
  const paths = {};
  const tags = /* @__PURE__ */ new Map();
  const codes = /* @__PURE__ */ new Set();
  for (const { path, method, spec } of documented(endpoints)) {
    const tag = tagOf(path);
    tags.set(tag.name, { ...tag });
    for (const code of codesOf(method, path, spec)) codes.add(code);
    const operations = paths[path] ??= {};
    operations[method] = { tags: [tag.name], ...describeOperation(path, method, spec, collector) };
  }
  collector.components.Error = ERROR_SCHEMA;
  return {
    openapi: "3.1.0",
    info: {
      title: "Deployer",
      version: info.version,
      summary: "A self-hosted deployment server",
      description: DESCRIPTION,
      license: { name: "MIT", identifier: "MIT" }
    },
    servers: [{ url: "/", description: "This server" }],
    tags: [...tags.values()].toSorted((a, b) => String(a.name).localeCompare(String(b.name))),
    paths,
    components: {
      schemas: sorted(collector.components),
      examples: sorted(errorExamples(codes)),
      securitySchemes: SECURITY_SCHEMES
    }
  };
}
const DESCRIPTION = `Builds and runs applications on one host from a git repository, a container image or an uploaded
archive, for one administrator.

- Bodies are JSON; an empty body counts as \`{}\`; a field, query parameter or duplicate key that is not documented is refused.
- A body may have 2 MiB, where nothing else is said.
- Timestamps are RFC 3339 in UTC with milliseconds.
- Where a path says *id or name*, both work; a name is looked up in the environment that the query \`environment\` names, else in production.
- Booleans in a query are true as \`true\`, \`1\`, \`yes\`, \`on\`, \`y\` or the bare name, false as \`false\`, \`0\`, \`no\`, \`off\`, \`n\`.
- Streams are Server-Sent Events without ids, with a comment every 15 seconds; the event \`end\` closes a stream that is
  complete, a stream that stops without it was cut.
- An unknown path answers 404 \`not_found\`; a known path with another method 405 \`method_not_allowed\` and \`Allow\`.`;
const SECURITY_SCHEMES = {
  token: {
    type: "http",
    scheme: "bearer",
    description: "An API token: the server token, or one made in the dashboard or by the sign-in of a terminal"
  },
  query: {
    type: "apiKey",
    in: "query",
    name: "access_token",
    description: "The same token in the query of a GET request, for browser event sources, which cannot set headers. Prefer the header: URLs reach histories and logs."
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "deployer_session_7878",
    description: "The session of the dashboard, set by sign-in. The number in the name is the port of the address that the browser uses. A change must come from the dashboard's own origin."
  }
};
function documented(endpoints) {
  return endpoints.flatMap(({ path, method, handler }) => {
    if (!handler.spec || path.startsWith(PAGES) || path.includes("**")) return [];
    return [{ path: path.replaceAll(/:(\w+)/g, "{$1}"), method: method.toLowerCase(), spec: handler.spec }];
  }).toSorted((a, b) => a.path.localeCompare(b.path) || a.method.localeCompare(b.method));
}
function describeOperation(path, method, spec, collector) {
  const parameters = parametersOf(path, spec, collector);
  return {
    operationId: operationId(path, method),
    summary: spec.summary,
    description: [spec.description, AUTH_SENTENCES[spec.auth]].filter(Boolean).join("\n\n"),
    security: securityOf(method, spec),
    ...parameters.length > 0 ? { parameters } : {},
    ...spec.body ? { requestBody: requestBody(path, spec.body, collector) } : {},
    responses: {
      ...successResponse(path, spec, collector),
      ...errorResponses(codesOf(method, path, spec))
    }
  };
}
const AUTH_SENTENCES = {
  token: "Needs an API token or the dashboard's session.",
  session: "Needs the dashboard's session; an API token is refused.",
  none: "Needs no API token and no session."
};
function securityOf(method, { auth }) {
  if (auth === "none") return [];
  if (auth === "session") return [{ session: [] }];
  return [{ token: [] }, ...method === "get" ? [{ query: [] }] : [], { session: [] }];
}
function operationId(path, method) {
  const words = path.replace(/^\/api\/(v1\/)?/, "/").replaceAll(/\{(\w+)\}/g, "by/$1").split(/[^a-zA-Z0-9]+/).filter(Boolean);
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}
function codesOf(method, path, spec) {
  const codes = ["invalid_request", "misdirected_request"];
  if (spec.auth !== "none") codes.push("unauthorized", "cross_site_request");
  if (spec.auth === "session") codes.push("session_required");
  if (path.includes("{") || namesEnvironment(spec)) codes.push("not_found");
  if (takesBody(method)) codes.push("payload_too_large");
  if (takesBody(method) && spec.auth === "none") codes.push("service_unavailable");
  if (spec.response && !isSchema(spec.response) && spec.response.ranges)
    codes.push("precondition_failed", "range_not_satisfiable");
  codes.push(...spec.errors ?? [], "internal_error", "database_error", "io_error");
  return [...new Set(codes)].toSorted((a, b) => ERRORS[a] - ERRORS[b]);
}
function namesEnvironment({ query, body }) {
  const json = body && !isSchema(body) ? body.json : body;
  return [query, json].some((part) => part instanceof z.ZodObject && "environment" in part.shape);
}
function requestBody(path, body, collector) {
  if (!isSchema(body)) {
    const content = { [body.contentType]: rawContent(path, body.contentType) };
    return {
      description: body.description,
      required: true,
      content: { ...body.json ? jsonBody(body.json, collector).content : {}, ...content }
    };
  }
  return { ...jsonBody(body, collector) };
}
function jsonBody(body, collector) {
  const schema = collector.convert(body, "input");
  const required = (collector.resolve(schema).required ?? []).length > 0;
  return { required, content: { "application/json": { schema, example: exampleOf(schema, collector) } } };
}
function successResponse(path, spec, collector) {
  const { response } = spec;
  if (!response) return { 204: { description: "Done; there is nothing to say" } };
  const status = String(spec.status ?? 200);
  if (!isSchema(response)) {
    const content2 = { [response.contentType]: rawContent(path, response.contentType) };
    const parts = {
      206: { description: "The part that `Range` asks for", content: content2 },
      304: { description: "The client has it already" }
    };
    return { [status]: { description: response.description, content: content2 }, ...response.ranges && parts };
  }
  const schema = collector.convert(response, "output");
  const description = SUCCESS_DESCRIPTIONS[status] ?? "The answer";
  const content = { "application/json": { schema, example: exampleOf(schema, collector) } };
  const existing = spec.existing === void 0 ? {} : { 200: { description: spec.existing, content } };
  return { ...existing, [status]: { description, content } };
}
const SUCCESS_DESCRIPTIONS = {
  200: "Done; what there is now",
  201: "Created; what was created",
  202: "Accepted; the work is queued or under way"
};
function rawContent(path, contentType) {
  if (!/^text\/|\/yaml$/.test(contentType)) return {};
  const example = rawExample(contentType, path);
  return { schema: { type: "string" }, ...example === void 0 ? {} : { example } };
}
function sorted(object) {
  return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => a.localeCompare(b)));
}

const OpenApiDocument = z.looseObject({ openapi: z.string().meta({ examples: ["3.1.0"] }) }).meta({ id: "OpenApiDocument", description: "An OpenAPI 3.1 document" });
const endpoint3 = defineEndpoint({
  summary: "Read this document",
  auth: "none",
  response: OpenApiDocument,
  // Anyone may ask for it, again and again.
  keptFrom: "program",
  async handler() {
    const { endpoints } = await import('../../virtual/_virtual_endpoints.mjs');
    return OpenApiDocument.parse(buildOpenApi(endpoints, { version: useContext().version }));
  }
});

export { endpoint3 as default };
