import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contrast } from '../../config/rules/contrast.ts';

/** The values of a custom property, of the light theme and then of the dark one. */
function valuesOf(property: string): string[] {
  const styles = ['../../html/base.css', './style.css'].map((file) =>
    readFileSync(new URL(file, import.meta.url), 'utf8'),
  );
  return styles
    .flatMap((style) => [...style.matchAll(new RegExp(`--${property}: (#[0-9a-f]{6});`, 'g'))])
    .map(([, value = '']) => value);
}

/** WCAG 2.2, success criterion 1.4.11. */
const minimum = 3;

test.each(['bar', 'bar-strong', 'bar-bad'])(
  'the colour --%s of the plots stands out from a card in both themes',
  (name) => {
    const cards = valuesOf('card');
    const bars = valuesOf(name);
    expect([bars.length, cards.length]).toEqual([2, 2]);
    for (const [theme, bar] of bars.entries())
      expect(contrast(bar, cards[theme] ?? '')).toBeGreaterThanOrEqual(minimum);
  },
);
