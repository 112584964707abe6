var version = "0.1.0";
const manifest = {
	version: version};

const VERSION = manifest.version;

export { VERSION as V };
