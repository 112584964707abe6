import { z } from 'zod';

const LOCAL_REFERENCE = "#/$defs/";
const COMPONENT_REFERENCE = "#/components/schemas/";
class SchemaCollector {
  components = {};
  /** The JSON Schema of what `schema` takes or gives; shared parts in it are references to `components`. */
  convert(schema, direction) {
    const {
      $schema: _,
      $defs,
      ...root
    } = z.toJSONSchema(schema, {
      io: direction,
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => tidy(zodSchema, jsonSchema)
    });
    const shared = Object.entries($defs ?? {});
    const names = this.#nameAll(shared, direction);
    for (const [id, part] of shared) this.components[names.get(id)] = withReferences(part, names);
    return withReferences(root, names);
  }
  /** Follows a reference made by `convert`; any other schema is answered as it is. */
  resolve(schema) {
    const name = typeof schema.$ref === "string" ? schema.$ref.slice(COMPONENT_REFERENCE.length) : null;
    return name === null ? schema : this.components[name];
  }
  /**
   * A schema goes by its id, unless the component of that name differs, as what is sent may differ from what is answered;
   * then it gets a name of its own, and so does what refers to it.
   */
  #nameAll(shared, direction) {
    const names = new Map(shared.map(([id]) => [id, id]));
    const differing = () => shared.find(([id, part]) => {
      const component = this.components[names.get(id)];
      return component && JSON.stringify(component) !== JSON.stringify(withReferences(part, names));
    });
    for (let found = differing(); found; found = differing()) {
      const [id] = found;
      if (names.get(id) !== id) throw new Error(`two schemas have the id ${id}`);
      names.set(id, direction === "input" ? `${id}Request` : `${id}Response`);
    }
    return names;
  }
}
function tidy(schema, json) {
  const meta = z.globalRegistry.get(schema);
  if (meta?.override) {
    for (const key of Object.keys(json)) if (key !== "description") delete json[key];
    Object.assign(json, meta.override);
  }
  if (meta?.examples) json.examples = meta.examples;
  if (typeof json.pattern === "string" && /\\p\{/i.test(json.pattern)) delete json.pattern;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
}
function withReferences(value, names) {
  if (Array.isArray(value)) return value.map((item) => withReferences(item, names));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (key === "$ref" && typeof item === "string" && item.startsWith(LOCAL_REFERENCE)) {
        const id = item.slice(LOCAL_REFERENCE.length);
        return [key, `${COMPONENT_REFERENCE}${names.get(id) ?? id}`];
      }
      return [key, key === "examples" || key === "default" ? item : withReferences(item, names)];
    })
  );
}

export { SchemaCollector as S, tidy as t };
