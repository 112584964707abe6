import { ay as browserAddress } from '../nitro/nitro.mjs';

function originOf({ node: { req } }) {
  return browserAddress(req)?.origin ?? "http://127.0.0.1:7878";
}

export { originOf as o };
