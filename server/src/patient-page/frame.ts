import { type Html, type HtmlContent, html } from '../html/html.ts';
import type { PageAssets } from './assets.ts';
import { type Language, languageNames, languages } from './language.ts';
import type { Texts } from './texts.ts';

/** What stands around the content of every page. */
export interface Frame {
  readonly language: Language;
  readonly texts: Texts;
  readonly assets: PageAssets;
  /** The name of the clinic. Not known for a link that is not valid. */
  readonly name?: string | undefined;
  readonly phone?: string | undefined;
  /** Parameters that the links to the other languages keep. */
  readonly query?: Readonly<Record<string, string>>;
}

/**
 * A whole page. Its links are relative, so that it also works below a path of a proxy.
 *
 * @param title of the browser's tab, without the name of the clinic
 */
export function renderFrame(frame: Frame, title: string, content: HtmlContent): string {
  const { language, texts, assets, name, phone } = frame;
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no">
<title>${title}${name === undefined ? '' : ` – ${name}`}</title>
<link rel="icon" href="assets/${assets.icon.name}">
<link rel="stylesheet" href="assets/${assets.style.name}">
</head>
<body>
<header>
${clinic(frame)}
<nav aria-label="${texts.language}">
<ul>
${languages.map((it) => languageLink(frame, it))}</ul>
</nav>
</header>
<main>
<div class="card">
${content}
</div>
</main>
<footer>
${phone !== undefined && html`<p>${texts.help} ${phoneLink(phone)}</p>`}
</footer>
</body>
</html>
`.text;
}

/** A link that calls a number. */
export function phoneLink(phone: string): Html {
  return html`<a href="tel:${phone.replace(/[^+\d]/g, '')}">${phone}</a>`;
}

function clinic({ name, assets: { logo } }: Frame): Html {
  const image = logo && html`<img src="assets/${logo.name}" alt="">`;
  return html`<p class="clinic">${image}${name}</p>`;
}

function languageLink({ language, query }: Frame, other: Language): Html {
  const current = other === language ? html` aria-current="true"` : '';
  const href = `?${new URLSearchParams({ ...query, lang: other })}`;
  return html`<li><a href="${href}" lang="${other}" hreflang="${other}"${current}>${languageNames[other]}</a></li>
`;
}
