import { createRouter, createWebHistory, type RouteLocationNormalized } from 'vue-router'
import { session } from './api/session.ts'
import AppShell from './shell/AppShell.vue'

declare module 'vue-router' {
  interface RouteMeta {
    /** Shown without being signed in. */
    open?: boolean
  }
}

export const router = createRouter({
  history: createWebHistory(),
  scrollBehavior: (to, from, saved) => saved ?? (to.path === from.path ? {} : { top: 0 }),
  routes: [
    { path: '/setup', component: () => import('./pages/SetupPage.vue'), meta: { open: true } },
    { path: '/sign-in', component: () => import('./pages/SignInPage.vue'), meta: { open: true } },
    { path: '/cli/:id', component: () => import('./pages/CliLoginPage.vue'), props: true },
    {
      path: '/',
      component: AppShell,
      children: [
        { path: '', redirect: '/services' },
        { path: 'services', component: () => import('./pages/ServicesPage.vue') },
        { path: 'services/new', component: () => import('./pages/NewServicePage.vue') },
        {
          path: 'services/:id',
          component: () => import('./pages/ServicePage.vue'),
          props: true,
          children: [
            { path: '', component: () => import('./service/ServiceOverview.vue') },
            { path: 'deploys', component: () => import('./service/ServiceDeploys.vue') },
            { path: 'logs', component: () => import('./service/ServiceLogs.vue') },
            { path: 'runs', component: () => import('./service/ServiceRuns.vue') },
            { path: 'variables', component: () => import('./service/ServiceVariables.vue') },
            { path: 'settings', component: () => import('./service/ServiceSettings.vue') },
          ],
        },
        {
          path: 'services/:id/deploys/:deployId',
          component: () => import('./pages/DeployPage.vue'),
          props: true,
        },
        {
          path: 'services/:id/runs/:jobId',
          component: () => import('./pages/JobPage.vue'),
          props: true,
        },
        { path: 'domains', component: () => import('./pages/DomainsPage.vue') },
        { path: 'server', component: () => import('./pages/ServerPage.vue') },
        { path: 'account', component: () => import('./pages/AccountPage.vue') },
        { path: ':path(.*)*', component: () => import('./pages/NotFoundPage.vue') },
      ],
    },
  ],
})

router.beforeEach(async (to) => {
  try {
    await session.load()
  } catch {
    // The server does not answer; App.vue says so, and the page asks again itself.
    return true
  }
  if (session.setupRequired.value) return to.path === '/setup' ? true : '/setup'
  if (to.path === '/setup') return '/services'
  if (session.user.value) return to.path === '/sign-in' ? returnPath(to) : true
  return to.meta.open ? true : { path: '/sign-in', query: returnQuery(to.fullPath) }
})

session.whenEnded(() => {
  void router.push({
    path: '/sign-in',
    query: { ...returnQuery(router.currentRoute.value.fullPath), ended: null },
  })
})

/** Where to go after sign-in: only ever a path of the dashboard itself. */
export function returnPath(route: RouteLocationNormalized): string {
  const wanted = route.query['return']
  return typeof wanted === 'string' && /^\/(?![/\\])/.test(wanted) ? wanted : '/services'
}

function returnQuery(path: string): { return?: string } {
  return path === '/' || path === '/services' ? {} : { return: path }
}
