import { expect, test } from 'vitest';
import { html } from './html.ts';

const hostile = `<img src=x onerror="alert('1')">&`;

test('escapes text, in elements and in quoted attributes', () => {
  const escaped = '&lt;img src=x onerror=&quot;alert(&apos;1&apos;)&quot;&gt;&amp;';
  expect(html`<p title="${hostile}">${hostile}</p>`.text).toBe(`<p title="${escaped}">${escaped}</p>`);
});

test('keeps templates in templates as they are, joins lists, and leaves nothing out but nothing', () => {
  const items = ['a', '<b>'].map((it) => html`<li>${it}</li>`);
  expect(html`<ul>${items}</ul>${false}${null}${undefined}${0}${''}`.text).toBe(
    '<ul><li>a</li><li>&lt;b&gt;</li></ul>0',
  );
});

test('does not take an object for HTML because it has a text', () => {
  expect(html`${{ text: hostile } as unknown as string}`.text).toBe('[object Object]');
});
