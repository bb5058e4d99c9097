/** Attributes that fields, buttons and samples of Scalar lack (WCAG 2.2, criteria 2.1.1 and 4.1.2). They are rendered late. */
const script = `
const missing = [
  ['.code-input-lite__editor[role=combobox]:not([aria-label])', { 'aria-label': 'Name of the header' }],
  ['.code-input-lite__editor[role=combobox]:not([aria-expanded])', { 'aria-expanded': 'false' }],
  ['button[class*="copy-button"]:not([aria-label])', { 'aria-label': 'Copy' }],
  ['code.custom-scroll:not([tabindex]), ul.endpoints:not([tabindex])', { tabindex: '0' }],
];
const add = () => {
  for (const [selector, attributes] of missing)
    for (const element of document.querySelectorAll(selector))
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
};
new MutationObserver(add).observe(document.body, { childList: true, subtree: true, attributeFilter: ['aria-expanded'] });
`;

/** The page of Scalar with its language, and a script that adds what its elements lack. */
export function withAdditions(page: string): string {
  return page.replace('<html>', '<html lang="en">').replace('</body>', () => `<script>${script}</script></body>`);
}

/**
 * Colours with a contrast of at least 4.5 to each background of Scalar (WCAG 2.2, criterion 1.4.3), and lines of their own for
 * what would otherwise run into its neighbour: the kind of credentials, the statuses of responses. Paths wrap in the list of
 * operations, because their ends tell them apart. Below the description, a sample is as high as it is: half of a low window,
 * such as one at 200 %, is left for a line of it.
 */
export const style = `
.light-mode {
  --scalar-color-2: #5f5f5f;
  --scalar-color-3: #666;
  --scalar-sidebar-search-color: #666;
  --scalar-color-blue: #0068aa;
  --scalar-color-green: #00704a;
  --scalar-color-yellow: #7a5c00;
  --scalar-color-orange: #b23c00;
  --scalar-color-red: #c80000;
}
.dark-mode {
  --scalar-color-3: #939393;
  --scalar-sidebar-search-color: #939393;
  --scalar-color-red: #ff5c5c;
}
section.contents > .rounded-t-xl { flex-wrap: wrap; }
section.contents > .rounded-t-xl > button { flex: 1 0 auto; }
section.contents > .rounded-t-xl > .flex:not(button) { padding: 0 0.5rem 0.5rem 0.5rem; }
.scalar-card-header-tabs { flex-wrap: wrap; }
.scalar-card-header-tabs > .scalar-card-header-title { flex: 1 0 100%; }
.scalar-card-header-tabs > :not(.scalar-card-header-title) { margin-left: auto; }
.scalar-card-header-tabs .tab-list { flex-wrap: wrap; }
a.endpoint.endpoint { white-space: normal; }
a.endpoint .endpoint-path.endpoint-path { overflow-wrap: anywhere; }
@media (width <= 1000px) { .examples > * { max-height: unset !important; } }
`;
