const SERVICE_TYPES = [
  "web_service",
  "private_service",
  "background_worker",
  "static_site",
  "cron_job"
];
const MAX_INSTANCES = 32;
const TYPES = {
  web_service: { label: "a web service", hasHosts: true, listens: true, hasInstances: true },
  private_service: { label: "a private service", hasHosts: false, listens: true, hasInstances: true },
  background_worker: { label: "a background worker", hasHosts: false, listens: false, hasInstances: true },
  static_site: { label: "a static site", hasHosts: true, listens: false, hasInstances: false },
  cron_job: { label: "a cron job", hasHosts: false, listens: false, hasInstances: false }
};
function wantedInstances(service) {
  return TYPES[service.type].hasInstances && !service.suspended ? service.instances : 0;
}

export { MAX_INSTANCES as M, SERVICE_TYPES as S, TYPES as T, wantedInstances as w };
