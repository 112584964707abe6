/** Where every user finds it; by itself it would lie in the home of the one who installed. */
const BROWSERS = '/opt/playwright'

/**
 * Lines of the final stage that install Chromium with what it links to: Playwright's releases run with their own build of
 * a browser alone (playwright.dev, "Browsers"). They stand before the code, so that no change of it fetches one again.
 */
export function installBrowser(program: string): string[] {
  return [
    `ENV PLAYWRIGHT_BROWSERS_PATH=${BROWSERS}`,
    `RUN ${program} install --with-deps chromium && rm -rf /var/lib/apt/lists/*`,
  ]
}
