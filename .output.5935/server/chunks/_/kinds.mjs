const DATASTORE_KINDS = ["relational", "keyvalue"];
const KINDS = {
  relational: {
    label: "relational datastore",
    port: 5432,
    hasDatabases: true,
    url: (at) => `postgresql://${authority(at)}/${encodeURIComponent(at.database ?? "")}`,
    connectCommand: (url) => `psql '${url}'`,
    backupExtension: "dump"
  },
  keyvalue: {
    label: "key-value datastore",
    port: 6379,
    hasDatabases: false,
    url: (at) => `redis://${authority(at)}`,
    connectCommand: (url) => `valkey-cli -u '${url}'`,
    backupExtension: "rdb"
  }
};
function authority({ host, port, username, password }) {
  return `${encodeURIComponent(username)}:${encodeURIComponent(password)}@${host}:${port}`;
}

export { DATASTORE_KINDS as D, KINDS as K };
