import { J as useContext } from '../nitro/nitro.mjs';
import { i as isLocalName } from './names.mjs';

const HTTP_PORT = 80;
const HTTPS_PORT = 443;
let bound = null;
function setListenerPorts(ports) {
  bound = ports;
}
function httpListenerPort() {
  return bound?.http ?? useContext().options.httpListen.port;
}
function httpsListenerPort() {
  return bound?.https ?? useContext().options.httpsListen.port;
}
function publicHttpPort() {
  return useContext().options.publicHttpPort ?? httpListenerPort();
}
function isSecure(host) {
  return useContext().options.tls !== "off" && !isLocalName(host);
}
function publicUrl(host) {
  if (isSecure(host)) return `https://${authority(host, httpsListenerPort(), HTTPS_PORT)}`;
  return `http://${authority(host, publicHttpPort(), HTTP_PORT)}`;
}
function authority(host, port, usual) {
  return port === usual ? host : `${host}:${port}`;
}

export { httpListenerPort as a, publicUrl as b, httpsListenerPort as h, publicHttpPort as p, setListenerPorts as s };
