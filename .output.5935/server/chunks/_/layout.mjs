const UNIT_FOLDER = "/etc/systemd/system";
const SETTINGS_FOLDER = "/etc/deployer";
const SETTINGS_FILE = `${SETTINGS_FOLDER}/deployer.env`;
const PROGRAM_FOLDER = "/usr/local/lib/deployer";
const COMMAND_FILE = "/usr/local/bin/deployer";
const CONTROL_UNIT = "deployer.service";
const DATA_UNIT = "deployer-proxy.service";

export { COMMAND_FILE as C, DATA_UNIT as D, PROGRAM_FOLDER as P, SETTINGS_FOLDER as S, UNIT_FOLDER as U, SETTINGS_FILE as a, CONTROL_UNIT as b };
