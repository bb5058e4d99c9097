import type axe from 'axe-core';
import type { Page } from 'playwright-core';
import type { TestOperator } from '../requests/console.ts';

/** What breaks these rules of axe, or any rule, each with the element. The page must have loaded `axe.source`. */
export async function violationsIn(page: Page, runOnly?: readonly string[]): Promise<string[]> {
  const options = { resultTypes: ['violations'], ...(runOnly && { runOnly }) };
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** The elements that are wider than the window. */
export function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(
    `[...document.querySelectorAll('*')].filter((it) => it.scrollWidth > document.documentElement.clientWidth)
       .map((it) => it.outerHTML.slice(0, 200))`,
  );
}

/** Signs an operator in to the console, with the form. */
export async function signIn(page: Page, operator: TestOperator): Promise<void> {
  await page.goto('/console/sign-in');
  await page.fill('#name', operator.name);
  await page.fill('#password', operator.password);
  await page.fill('#code', operator.code());
  await page.press('#code', 'Enter');
  await page.waitForURL((url) => url.pathname === '/console');
}
