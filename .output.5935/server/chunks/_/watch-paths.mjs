class Glob {
  #steps;
  /** For each place, the round in which it was reached last: a set that costs nothing to empty. */
  #reached;
  #round = 0;
  /** Throws SyntaxError for a pattern that cannot be read. */
  constructor(pattern) {
    this.#steps = parse(pattern);
    this.#reached = new Uint32Array(this.#steps.length + 1);
  }
  /** Whether the whole text matches. */
  test(text) {
    let places = [];
    this.#round += 1;
    this.#reach(0, places);
    for (const character of text) {
      const next = [];
      this.#round += 1;
      for (const place of places) this.#advance(place, character, next);
      if (next.length === 0) return false;
      places = next;
    }
    return this.#reached[this.#steps.length] === this.#round;
  }
  /** Where a character leads from a place. */
  #advance(place, character, next) {
    const step = this.#steps[place];
    if (!step) return;
    if (step.kind === "one") {
      if (step.takes(character)) this.#reach(place + 1, next);
      return;
    }
    if (step.kind !== "segment" || character !== "/") this.#reach(place, next);
    if (step.kind === "folders" && character === "/") this.#reach(place + 1, next);
  }
  /** Adds a place, and those that are reached from it without a character. */
  #reach(from, places) {
    const open = [from];
    for (let place = open.pop(); place !== void 0; place = open.pop()) {
      if (this.#reached[place] === this.#round) continue;
      this.#reached[place] = this.#round;
      const kind = this.#steps[place]?.kind;
      if (kind === "maybe folders") open.push(place + 1, place + 2);
      else places.push(place);
      if (kind === "segment" || kind === "all") open.push(place + 1);
    }
  }
}
function parse(pattern) {
  const characters = [...pattern];
  const steps = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at];
    if (character === "*" && characters[at + 1] === "*") {
      at += characters[at + 2] === "/" ? 2 : 1;
      if (at + 1 >= characters.length) steps.push({ kind: "all" });
      else steps.push({ kind: "maybe folders" }, { kind: "folders" });
    } else if (character === "*") steps.push({ kind: "segment" });
    else if (character === "?") steps.push({ kind: "one", takes: (other) => other !== "/" });
    else if (character === "[") {
      const end = classEnd(characters, at);
      steps.push({ kind: "one", takes: readClass(characters.slice(at + 1, end)) });
      at = end;
    } else {
      if (character === "\\") at += 1;
      const wanted = characters[at];
      if (wanted === void 0) throw new SyntaxError("a backslash at the end");
      steps.push({ kind: "one", takes: (other) => other === wanted });
    }
  }
  return steps;
}
function classEnd(characters, start) {
  for (let at = start + 1; at < characters.length; at += 1) {
    if (characters[at] === "\\") at += 1;
    else if (characters[at] === "]" && at > start + 1) return at;
  }
  throw new SyntaxError("a class without an end");
}
function readClass(characters) {
  const negated = characters[0] === "^";
  const ranges = [];
  let at = negated ? 1 : 0;
  const next = () => {
    if (characters[at] === "\\") at += 1;
    const character = characters[at];
    if (character === void 0) throw new SyntaxError("a backslash at the end of a class");
    at += 1;
    return character;
  };
  while (at < characters.length) {
    const from = next();
    const isRange = characters[at] === "-" && at + 1 < characters.length;
    if (isRange) at += 1;
    const to = isRange ? next() : from;
    if (codeOf(from) > codeOf(to)) throw new SyntaxError("a range that ends before it begins");
    ranges.push([from, to]);
  }
  return (character) => ranges.some(([from, to]) => codeOf(from) <= codeOf(character) && codeOf(character) <= codeOf(to)) !== negated;
}
function codeOf(character) {
  return character.codePointAt(0);
}

function watchPathsFault(patterns) {
  for (const pattern of patterns) {
    if (pattern.trim() === "") return "must not hold an empty pattern";
    if (pattern.startsWith("/") || pattern.startsWith("!") || pattern.split("/").includes(".."))
      return `${pattern} must be a glob from the repository's root, without a slash or "!" first and without ".."`;
    try {
      compile(pattern);
    } catch (error) {
      return `${pattern} is no glob: ${error.message}`;
    }
  }
  return null;
}
function touches(patterns, files) {
  return patterns.flatMap(compile).some((glob) => files.some((file) => glob.test(file)));
}
function compile(pattern) {
  const normal = pattern.replace(/^\.\//, "").replace(/\/$/, "");
  return [new Glob(normal), new Glob(`${normal}/**`)];
}

export { touches as t, watchPathsFault as w };
