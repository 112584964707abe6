import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { TestBrowser } from './browser.ts'

let server: TestServer
let browser: TestBrowser

beforeAll(async () => {
  server = await startServer()
  browser = await TestBrowser.launch()
  await browser.enter(server)
  await server.api('POST', '/services', { name: 'shop', image: 'busybox:1', deploy: false })
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

/** The minimum contrast of a field's border to its inside and to its background (WCAG 1.4.11). */
const LEAST_CONTRAST = `(() => {
  const parse = (colour) => colour.match(/[\\d.]+/g).map(Number)
  const light = (colour) => {
    const [r, g, b] = parse(colour).map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const contrast = (one, other) => {
    const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b)
    return (bright + 0.05) / (dark + 0.05)
  }
  const ground = (element) => {
    const colour = getComputedStyle(element).backgroundColor
    return parse(colour)[3] === 0 && element.parentElement ? ground(element.parentElement) : colour
  }
  const fields = [...document.querySelectorAll('main input:not([type=checkbox], [type=radio], [type=file]), main select, main textarea')]
  return fields.length === 0 ? 0 : Math.min(...fields.filter((field) => field.checkVisibility()).flatMap((field) => {
    const border = getComputedStyle(field).borderTopColor
    return [contrast(border, ground(field)), contrast(border, ground(field.parentElement))]
  }))
})()`

test.for(['light', 'dark'] as const)('input fields can be seen in the %s theme', async (colorScheme) => {
  const stranger = await browser.open(server.url, { colorScheme })
  await stranger.goto('/sign-in')
  await stranger.getByLabel('E-mail').blur()
  expect(await stranger.evaluate<number>(LEAST_CONTRAST)).toBeGreaterThan(3)
  await stranger.context().close()
  const page = await browser.enter(server, { colorScheme })
  for (const path of ['/services/new', '/services/shop/settings', '/services/shop/logs', '/account']) {
    await page.goto(path)
    await page.locator('main .input:visible').first().waitFor()
    const isSeen = (await page.evaluate<number>(LEAST_CONTRAST)) >= 3
    expect({ path, isSeen }).toEqual({ path, isSeen: true })
  }
  await page.context().close()
})
