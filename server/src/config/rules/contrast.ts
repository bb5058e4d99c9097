/** Text in the accent colours stands on these backgrounds, and text on buttons has these colours. */
export const backgrounds = { accent_color: '#ffffff', dark_accent_color: '#1a2128' } as const;

/** WCAG 2.2, success criterion 1.4.3: minimum contrast of text. */
export const minimumContrast = 4.5;

/** The contrast ratio of two colours (WCAG 2.2), from 1 to 21. Colours are `#` and six hexadecimal digits. */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Relative luminance: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
