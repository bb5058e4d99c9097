import { type Html, type HtmlContent, html } from '../../html/html.ts';
import { includesRole, type Role } from '../accounts/roles.ts';
import { formToken } from '../sign-in/sessions.ts';
import { type ConsoleResponse, linkTo, type PageContext, type SignedIn } from './page.ts';
import { timeZoneOf, withLocalTimes } from './time-zone.ts';

/** The navigation. A third entry is the role that the section needs. */
const sections = [
  ['', 'Overview'],
  ['operations', 'Operations'],
  ['messages', 'Messages'],
  ['webhooks', 'Webhooks'],
  ['connections', 'Connections'],
  ['clients', 'Clients'],
  ['accounts', 'Accounts', 'admin'],
  ['audit', 'Audit', 'admin'],
  ['activity', 'Activity'],
] as const satisfies readonly (readonly [path: string, name: string, role?: Role])[];

const ownAccount = 'your-account';

type Section = (typeof sections)[number][0] | typeof ownAccount;

interface Content {
  readonly title: string;
  /** The section of the navigation that the page is in. */
  readonly section?: Section;
  readonly content: HtmlContent;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A page of a signed-in operator. */
export function consolePage(context: SignedIn, { section, ...rest }: Content): ConsoleResponse {
  const { session } = context;
  const current = (path: Section) => path === section && html` aria-current="page"`;
  const header = html`<div class="who"><span>${session.name} <span class="quiet">(${session.role})</span></span>
<a href="${linkTo(context, ownAccount)}"${current(ownAccount)}>Your account</a>
${postForm(context, 'sign-out', html`<button class="link">Sign out</button>`)}</div>
<nav aria-label="Console"><ul>
${sections.map(([path, name, role]) => {
  if (!includesRole(session.role, role ?? 'view')) return false;
  return html`<li><a href="${linkTo(context, path)}" data-name="${name}"${current(path)}>${name}</a></li>\n`;
})}</ul></nav>`;
  const { settings, emrs } = context.deps;
  const response = respond(context, rest, header);
  return { ...response, html: withLocalTimes(response.html ?? '', timeZoneOf({ settings, emrs })) };
}

/** A page without a session. */
export function plainPage(context: PageContext, content: Omit<Content, 'section'>): ConsoleResponse {
  return respond(context, { ...content, content: html`<div class="narrow">${content.content}</div>` }, '');
}

/** A form of a signed-in operator, with the token that shows where it comes from. */
export function postForm(context: SignedIn, path: string, content: HtmlContent): Html {
  return html`<form method="post" action="${linkTo(context, path)}">
<input type="hidden" name="form_token" value="${formToken(context.session.token)}">
${content}</form>`;
}

function respond(
  context: PageContext,
  { title, content, status = 200, headers }: Omit<Content, 'section'>,
  header: HtmlContent,
): ConsoleResponse {
  const text = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<title>${title} – Crossward console</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${linkTo(context, `assets/${context.style}`)}">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><div class="bar">
<a class="brand" href="${linkTo(context, '')}">Crossward</a>
${header}
</div></header>
<main id="content" tabindex="-1">
${content}
</main>
</body>
</html>
`.text;
  return { status, html: text, ...(headers && { headers }) };
}
