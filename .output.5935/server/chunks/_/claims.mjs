import { A as AppError, J as useContext, R as Name, E as useDatabase } from '../nitro/nitro.mjs';
import { l as listEnvironments, P as PRODUCTION, f as findEnvironment } from './store.mjs';
import { p as placeOf, h as hostsOf } from './hosts.mjs';
import { q as qualifiedName } from './qualified-name.mjs';
import { a as getDomainByName, l as listDomains, h as isServed } from './store4.mjs';

function assertServiceHostsFree({ type, name }, environment) {
  const domains = listDomains().map((domain) => domain.name);
  for (const host of hostsOf({ type, name }, environment, domains)) {
    if (host === useContext().options.dashboardHost)
      throw new AppError("conflict", `name: ${host} is the dashboard's host`);
    const holder = customHolder(host);
    if (holder) throw new AppError("conflict", `name: ${host} is a custom domain of service ${holder.label}`);
  }
}
function assertEnvironmentHostsFree(name) {
  for (const domain of listDomains()) {
    const place = placeOf({ name }, domain.name);
    if (getDomainByName(place))
      throw new AppError(
        "conflict",
        `name: ${place}, where services of this environment would be, is a domain`
      );
    assertNotAboveDashboard(place, "name");
  }
}
function assertDomainHostsFree(name) {
  const known = getDomainByName(name);
  if (known) throw new AppError("conflict", `name: ${name} is a domain already (${known.id})`);
  for (const environment of listEnvironments()) {
    if (environment.name === PRODUCTION) continue;
    const place = placeOf(environment, name);
    if (getDomainByName(place))
      throw new AppError(
        "conflict",
        `name: ${place}, where services of environment ${environment.name} would be, is a domain`
      );
    for (const domain of listDomains()) {
      if (placeOf(environment, domain.name) === name)
        throw new AppError(
          "conflict",
          `name: ${name} is where services of environment ${environment.name} are`
        );
    }
    assertNotAboveDashboard(place, "name");
  }
  assertNamedHostsFree(name);
}
function assertCustomDomainFree(host, service, field) {
  const fault = (what) => new AppError("conflict", `${field}: ${host} ${what}`);
  if (host === useContext().options.dashboardHost) throw fault("is the dashboard's host");
  const holder = customHolder(host);
  if (holder && holder.id !== service.id) throw fault(`is in use by service ${holder.label}`);
  if (holder) return;
  for (const domain of listDomains()) {
    if (!couldBeUnder(host, domain.name)) continue;
    if (isServed(domain))
      throw fault(`is under the domain ${domain.name}, where services have their hosts by their names`);
    const own = hostsOf(service, findEnvironment(service.environment_id), [domain.name]);
    const named = own.includes(host) ? service.name : serviceNamedBy(host, domain.name);
    if (named !== null) throw fault(`is where service ${named} will be when ${domain.name} is verified`);
  }
}
function assertNamedHostsFree(domain) {
  const { dashboardHost } = useContext().options;
  const owned = customDomains().map(({ host, label }) => ({
    host,
    label: `a custom domain of service ${label}`
  }));
  if (dashboardHost !== null) owned.push({ host: dashboardHost, label: "the dashboard's host" });
  for (const { host, label } of owned) {
    const named = couldBeUnder(host, domain) ? serviceNamedBy(host, domain) : null;
    if (named !== null)
      throw new AppError(
        "conflict",
        `name: under ${domain} service ${named} would be at ${host}, which is ${label}`
      );
  }
}
function serviceNamedBy(host, domain) {
  const [name, environment = PRODUCTION] = host.slice(0, -domain.length - 1).split(".");
  const found = useDatabase().get(
    `SELECT 1 FROM services JOIN environments ON environments.id = environment_id
     WHERE services.name = ? AND environments.name = ? AND type IN ('web_service', 'static_site')`,
    name,
    environment
  );
  return found === void 0 ? null : qualifiedName(name, { name: environment });
}
function assertNotAboveDashboard(place, field) {
  const { dashboardHost } = useContext().options;
  if (dashboardHost !== null && dashboardHost.slice(dashboardHost.indexOf(".") + 1) === place)
    throw new AppError(
      "conflict",
      `${field}: the dashboard's host ${dashboardHost} is where a service of an environment would be`
    );
}
function couldBeUnder(host, domain) {
  if (!host.endsWith(`.${domain}`)) return false;
  const labels = host.slice(0, -domain.length - 1).split(".");
  return labels.length <= 2 && labels.every((label) => Name.safeParse(label).success);
}
function customHolder(host) {
  return customDomains(host)[0];
}
function customDomains(host = null) {
  return useDatabase().all(
    `SELECT custom.value AS host, services.id, services.name, environments.name AS environment
       FROM services JOIN environments ON environments.id = environment_id, json_each(custom_domains) AS custom
       WHERE custom_domains <> '[]' AND (?1 IS NULL OR custom.value = ?1)`,
    host
  ).map(({ host: host2, id, name, environment }) => ({
    host: host2,
    id,
    label: qualifiedName(name, { name: environment })
  }));
}

export { assertEnvironmentHostsFree as a, assertDomainHostsFree as b, assertServiceHostsFree as c, assertCustomDomainFree as d };
