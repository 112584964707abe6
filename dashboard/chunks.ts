/** What the bundler knows of a module. */
interface Modules {
  getModuleInfo: (id: string) => {
    importers: readonly string[]
    dynamicImporters: readonly string[]
  } | null
}

/** With what it runs at once: from a chunk that begins after it that would not be there yet. */
const VUE = /node_modules[\\/](@vue|vue|vue-router|birpc|hookable|perfect-debounce)[\\/]/

/** What a first visit waits for: the shell, the overview and the list of services. */
const FIRST = 'first'
/** What pages of more than one area need. */
const SHARED = 'shared'

/**
 * Pages that people go between come in one file, so that the whole dashboard is about ten. What draws logs and charts
 * is larger, and comes with the pages that show them. Paths are those in src; the first that matches counts.
 */
const AREAS: [name: string, pages: RegExp][] = [
  [FIRST, /^main\.ts$|OverviewPage|ServicesPage|NotFoundPage/],
  ['editor', /BlueprintEditorPage|^blueprints\/(CodeEditor|editor|completion)/],
  ['terminal', /^terminals\//],
  ['charts', /^metrics\//],
  ['logs', /Log(s|Tail)?\.vue$|DeployPage|JobPage/],
  ['settings', /NewServicePage|Service(Settings|Variables)|^env-groups\//],
  ['services', /^(service|disk)\/|ServicePage/],
  ['datastores', /^datastores\/|Datastore/],
  ['server', /^(server|notifications)\/|ServerPage/],
  ['account', /^account\/|AccountPage|SignInPage|SetupPage|CliLoginPage/],
  // Dialogs that any page may open.
  [SHARED, /^(shell|ui)\//],
]
/** All other pages. */
const REST = 'others'

/** The name of the chunk that a module belongs to. */
export function chunkOf(id: string, modules: Modules): string {
  if (VUE.test(id)) return 'vue'
  const areas = pagesWith(id, modules).map(areaOf)
  if (areas.includes(FIRST)) return FIRST
  const [area = SHARED] = areas
  return areas.every((other) => other === area) ? area : SHARED
}

function areaOf(page: string): string {
  // The page of everything, which loads main.ts.
  if (page.endsWith('/dashboard/index.html')) return FIRST
  const path = page.split('/dashboard/src/').at(-1)!
  return AREAS.find(([, pages]) => pages.test(path))?.[0] ?? REST
}

/** The modules that are loaded by themselves, and which need a module at once: themselves, or through others. */
function pagesWith(id: string, modules: Modules): string[] {
  const seen = new Set([id])
  const pages: string[] = []
  for (const each of seen) {
    const { importers = [], dynamicImporters = [] } = modules.getModuleInfo(each) ?? {}
    if (dynamicImporters.length > 0 || importers.length === 0) pages.push(each)
    for (const importer of importers) seen.add(importer)
  }
  return pages
}
