import { createRouter, createWebHistory, type RouteLocationNormalized } from 'vue-router'
import { ahead } from './ahead.ts'
import { connection } from './api/connection.ts'
import { session } from './api/session.ts'
import { returnPath, returnQuery } from './return-path.ts'
import { scrollTarget } from './scroll.ts'
import AppShell from './shell/AppShell.vue'
import { arrived } from './ui/arrival.ts'
import { toast } from './ui/toasts.ts'
import { leftPage, mayLeave } from './ui/unsaved.ts'

declare module 'vue-router' {
  interface RouteMeta {
    /** Shown without being signed in. */
    open?: boolean
  }
}

export const router = createRouter({
  history: createWebHistory(),
  scrollBehavior: scrollTarget,
  routes: [
    { path: '/setup', component: () => import('./pages/SetupPage.vue'), meta: { open: true } },
    { path: '/sign-in', component: ahead(() => import('./pages/SignInPage.vue')), meta: { open: true } },
    { path: '/cli/:id', component: () => import('./pages/CliLoginPage.vue'), props: true },
    {
      path: '/',
      component: AppShell,
      children: [
        { path: '', redirect: ({ query }) => ({ path: '/overview', query }) },
        { path: 'overview', component: ahead(() => import('./overview/OverviewPage.vue')) },
        { path: 'services', component: ahead(() => import('./pages/ServicesPage.vue')) },
        { path: 'services/new', component: ahead(() => import('./pages/NewServicePage.vue')) },
        {
          path: 'services/:id',
          component: ahead(() => import('./pages/ServicePage.vue')),
          props: true,
          children: [
            { path: '', component: ahead(() => import('./service/ServiceOverview.vue')) },
            { path: 'deploys', component: ahead(() => import('./service/ServiceDeploys.vue')) },
            { path: 'logs', component: ahead(() => import('./service/ServiceLogs.vue')) },
            { path: 'shell', component: () => import('./terminals/ServiceShell.vue') },
            { path: 'metrics', component: ahead(() => import('./metrics/ServiceMetrics.vue')) },
            { path: 'disk', component: ahead(() => import('./disk/ServiceDisk.vue')) },
            { path: 'runs', component: ahead(() => import('./service/ServiceRuns.vue')) },
            { path: 'variables', component: ahead(() => import('./service/ServiceVariables.vue')) },
            { path: 'edge', component: ahead(() => import('./edge/ServiceEdge.vue')) },
            { path: 'settings', component: ahead(() => import('./service/ServiceSettings.vue')) },
          ],
        },
        {
          path: 'services/:id/deploys/:deployId',
          component: ahead(() => import('./pages/DeployPage.vue')),
          props: true,
        },
        {
          path: 'services/:id/runs/:jobId',
          component: ahead(() => import('./pages/JobPage.vue')),
          props: true,
        },
        { path: 'logs', component: ahead(() => import('./logs/LogsPage.vue')) },
        { path: 'blueprints', component: ahead(() => import('./pages/BlueprintsPage.vue')) },
        { path: 'blueprints/editor', component: () => import('./pages/BlueprintEditorPage.vue') },
        // The button in a README leads here.
        {
          path: 'new',
          redirect: ({ query }) => ({
            path: query['blueprint'] ? '/blueprints/editor' : '/services/new',
            query,
          }),
        },
        { path: 'datastores', component: ahead(() => import('./pages/DatastoresPage.vue')) },
        { path: 'datastores/new', component: ahead(() => import('./pages/NewDatastorePage.vue')) },
        {
          path: 'datastores/:id',
          component: ahead(() => import('./pages/DatastorePage.vue')),
          props: true,
          children: [
            { path: '', component: ahead(() => import('./datastores/DatastoreOverview.vue')) },
            { path: 'logs', component: ahead(() => import('./datastores/DatastoreLogs.vue')) },
            { path: 'shell', component: () => import('./terminals/DatastoreShell.vue') },
            { path: 'backups', component: ahead(() => import('./datastores/DatastoreBackups.vue')) },
            { path: 'settings', component: ahead(() => import('./datastores/DatastoreSettings.vue')) },
          ],
        },
        { path: 'environments', component: ahead(() => import('./environments/EnvironmentsPage.vue')) },
        { path: 'env-groups', component: ahead(() => import('./env-groups/EnvGroupsPage.vue')) },
        {
          path: 'env-groups/:id',
          component: ahead(() => import('./env-groups/EnvGroupPage.vue')),
          props: true,
        },
        { path: 'domains', component: ahead(() => import('./pages/DomainsPage.vue')) },
        {
          path: 'server',
          component: ahead(() => import('./pages/ServerPage.vue')),
          children: [
            {
              path: '',
              component: ahead(() => import('./server/ServerIndex.vue')),
              // The metrics were here, and addresses of a range still name them so.
              beforeEnter: ({ query }) => !query['range'] || { path: '/server/metrics', query },
            },
            { path: 'metrics', component: ahead(() => import('./metrics/ServerMetrics.vue')) },
            { path: 'nodes', component: ahead(() => import('./nodes/ServerNodes.vue')) },
            { path: 'backups', component: ahead(() => import('./server/ServerBackups.vue')) },
            { path: 'logs', component: ahead(() => import('./server/ServerLog.vue')) },
            { path: 'disk', component: ahead(() => import('./server/ServerDisk.vue')) },
            { path: 'audit', component: ahead(() => import('./server/ServerAudit.vue')) },
            { path: 'doctor', component: ahead(() => import('./server/ServerDoctor.vue')) },
          ],
        },
        { path: 'notifications', component: ahead(() => import('./notifications/NotificationsPage.vue')) },
        { path: 'registries', component: ahead(() => import('./registries/RegistriesPage.vue')) },
        { path: 'git', component: ahead(() => import('./git/GitPage.vue')) },
        {
          path: 'git/register',
          component: () => import('./git/RegisterPage.vue'),
          // Only this page may submit a form to another site (its content security policy), so it always gets a full
          // load.
          beforeEnter: (to, from) => {
            if (from.matched.length === 0) return true
            location.assign(to.fullPath)
            return false
          },
        },
        { path: 'git/callback', component: () => import('./git/CallbackPage.vue') },
        { path: 'account', component: ahead(() => import('./pages/AccountPage.vue')) },
        { path: ':path(.*)*', component: ahead(() => import('./pages/NotFoundPage.vue')) },
      ],
    },
  ],
})

router.beforeEach(async (to, from) => {
  try {
    await session.load()
  } catch {
    // The server does not answer; App.vue says so, and the page retries by itself.
    return true
  }
  if (session.setupRequired.value) return to.path === '/setup' ? true : '/setup'
  if (to.path === '/setup') return '/overview'
  if (session.user.value) {
    if (to.path === '/sign-in') return returnPath(to)
    return to.path === from.path || (await mayLeave())
  }
  return to.meta.open ? true : { path: '/sign-in', query: returnQuery(to.fullPath) }
})

/** A page is useless without its data: while the server is away, the current one stays, and the link waits. */
router.beforeResolve(async (to, from) => {
  const isMove = from.matched.length > 0 && to.path !== from.path
  if (isMove && connection.lost.value && !(await connection.probe())) await untilAnswered(to)
})

router.afterEach((to, from, failure) => {
  leftPage()
  if (!failure) reloadOnce.loaded()
  if (!failure && from.matched.length > 0 && to.path !== from.path) arrived()
})

/**
 * A page's code cannot be loaded when the server is away: the current page stays, and the link waits. Or the server was
 * upgraded: the page is reloaded, once.
 */
router.onError(async (error, to, from) => {
  leftPage()
  // A change of the network cuts off the code and the first probe alike.
  if (!(await connection.answersSoon())) {
    // On first load there is no page that could stay.
    if (from.matched.length === 0) return pageFault('The server does not answer.')
    if (await untilAnswered(to)) void router.push(to.fullPath)
    return
  }
  if (!reloadOnce.at(to.fullPath)) pageFault(`This page could not be loaded: ${(error as Error).message}`)
})

let pageFault: (message: string) => void = () => {}

/** Registers the handler that says that a page cannot be shown. */
export function whenPageFails(listener: (message: string) => void): void {
  pageFault = listener
}

/** The page that was asked for last while the server was away. */
let wanted: RouteLocationNormalized | null = null

/** Says that a page waits for the server, and waits; resolves to whether it is still the page that is wanted. */
async function untilAnswered(to: RouteLocationNormalized): Promise<boolean> {
  wanted = to
  await toast.problemUntil(
    'The server does not answer. The page that you chose opens once it does.',
    connection.answers(),
  )
  return wanted === to
}
