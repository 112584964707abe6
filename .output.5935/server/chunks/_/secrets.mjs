import { b as bareHost } from './bare-host.mjs';
import { J as useContext } from '../nitro/nitro.mjs';
import { l as listConnections, o as openSecrets, c as placeOf, r as pathAt } from './serving.mjs';
import { p as parseRepositoryUrl } from './url.mjs';

function hookSecrets() {
  const { webhookSecret } = useContext().options;
  const own = webhookSecret === null ? [] : [{ text: webhookSecret, connection: null }];
  const theirs = listConnections().flatMap((connection) => {
    const text = connection.push_events === 1 ? openSecrets(connection).webhook_secret : void 0;
    return text === void 0 ? [] : [{ text, connection }];
  });
  return [...own, ...theirs];
}
function mayDeploy(connection, repositoryUrl) {
  if (connection === null) return true;
  const place = placeOf(connection);
  const parsed = parseRepositoryUrl(repositoryUrl);
  if (parsed === null) return false;
  const isWeb = parsed.protocol === "http" || parsed.protocol === "https";
  return isWeb ? pathAt(place, repositoryUrl) !== null : parsed.host === bareHost(new URL(place.web).hostname);
}

export { hookSecrets as h, mayDeploy as m };
