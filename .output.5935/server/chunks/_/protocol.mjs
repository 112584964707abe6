const PROTOCOL = 3;
const DASHBOARD_TARGET = "dashboard";
const VERIFICATION_PATH = "/.well-known/deployer/";
const SECTIONS = ["targets", "hosts", "zones", "certificates", "acme_challenges"];

export { DASHBOARD_TARGET as D, PROTOCOL as P, SECTIONS as S, VERIFICATION_PATH as V };
