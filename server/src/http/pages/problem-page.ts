import type { FastifyInstance, FastifyRequest } from 'fastify';
import { table } from '../../console/frame/parts.ts';
import { type HtmlContent, html } from '../../html/html.ts';
import { Problem } from '../../problems/problem.ts';
import { codeOf, type Reason, type ReasonFacts, reasons } from '../../problems/reasons.ts';
import { pageFrame } from './frame.ts';
import { addHtmlPages } from './html-pages.ts';
import type { PageLink } from './links.ts';
import { pageAllowances } from './style.ts';

const origins: Record<ReasonFacts['origin'], { readonly who: string; readonly errors: string }> = {
  caller: { who: 'The caller.', errors: 'Errors of the caller' },
  gateway: { who: 'The gateway.', errors: 'Errors of the gateway' },
  ehr: { who: 'The EHR.', errors: 'Errors of the EHR' },
};
const all: readonly (ReasonFacts & { readonly reason: Reason })[] = Object.entries(reasons).map(([reason, facts]) => ({
  ...facts,
  reason: reason as Reason,
}));
const section = '/problems/';

/** The page that lists every reason. */
function problemsPage(links: readonly PageLink[]): string {
  return pageFrame({
    title: 'Errors',
    section,
    links,
    content: html`<h1>Errors</h1>
<p>Every error of the interface is a problem document with one of these values in <code>reason</code>. Its
<code>type</code> is the address of a page here.</p>
<ul class="statuses" id="statuses">
${Object.entries(origins).map(([origin, { errors }]) => statusesOf(origin, errors))}</ul>
${Object.entries(origins).map(([origin, { errors }]) => errorsFrom(origin, errors))}`,
  });
}

function errorsFrom(origin: string, heading: string): HtmlContent {
  const found = errorsOf(origin);
  return html`<section>
<h2 id="${origin}">${heading}</h2>
${table(
  `${found.length} errors, by status`,
  ['reason', 'status', 'error', 'same request later'],
  found.map((facts, index) => {
    const isFirst = facts.status !== found[index - 1]?.status;
    const link = linkTo(facts.reason);
    const target = isFirst ? html`<span id="${origin}-${facts.status}">${link}</span>` : link;
    return [target, facts.status, facts.title, laterOf(facts)];
  }),
)}
<p><a href="#statuses">All statuses</a></p>
</section>
`;
}

/** Links to the errors of an origin, and to the first one with each status. */
function statusesOf(origin: string, heading: string): HtmlContent {
  const statuses = [...new Set(errorsOf(origin).map(({ status }) => status))];
  return html`<li><a href="#${origin}">${heading}</a>:
${statuses.map((status) => html`<a href="#${origin}-${status}"><span class="aside">${heading} with status </span>${status}</a> `)}</li>
`;
}

function errorsOf(origin: string) {
  return all.filter((facts) => facts.origin === origin).sort((one, other) => one.status - other.status);
}

/** The page that explains a reason to developers. */
function problemPage(reason: Reason, links: readonly PageLink[]): string {
  const facts: ReasonFacts = reasons[reason];
  const { status, title, origin, happened, remedy } = facts;
  const index = all.findIndex((it) => it.reason === reason);
  const related = all.filter((it) => it.reason !== reason && it.status === status && it.origin === origin);
  return pageFrame({
    title: reason,
    section,
    links,
    content: html`<p><a href="/problems/">Errors</a></p>
<h1>${title}</h1>
<p><code>${reason}</code> · ${status} ${codeOf(status)}</p>
<dl>
<dt>What happened</dt><dd>${inline(happened)}</dd>
<dt>What to do</dt><dd>${inline(remedy)}</dd>
<dt>Origin of the error</dt><dd>${origins[origin].who}</dd>
<dt>Can the same request succeed later?</dt><dd>${laterOf(facts)}</dd>
</dl>
${
  related.length > 0 &&
  html`<h2>Other errors with this status</h2>
<ul>
${related.map((it) => html`<li>${linkTo(it.reason)}: ${it.title}</li>\n`)}</ul>`
}
<p class="pager">${neighbour(all[index - 1], 'Previous')}${neighbour(all[index + 1], 'Next')}</p>`,
  });
}

function neighbour(facts: { readonly reason: Reason } | undefined, name: string): HtmlContent {
  return facts && html`<span>${name}: ${linkTo(facts.reason)}</span>`;
}

function linkTo(reason: Reason): HtmlContent {
  return html`<a href="/problems/${reason}"><code>${reason}</code></a>`;
}

function laterOf({ retryable, later }: ReasonFacts): string {
  return later ?? (retryable ? 'Yes.' : 'No.');
}

/** Turns backticks into `<code>`. */
export function inline(text: string): HtmlContent {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`));
}

/** Serves `/problems/{reason}`, the pages that `type` of a problem document links to, and `/problems/`, which lists them. */
export async function addProblemPages(app: FastifyInstance): Promise<void> {
  const linksOf = (request: FastifyRequest) => app.pageLinks?.(request) ?? [];
  await addHtmlPages(app, { ...pageAllowances, 'script-src': ["'none'"] }, (pages) => {
    pages.get('/problems', async (_request, reply) => reply.redirect('/problems/', 301));
    pages.get('/problems/', async (request, reply) =>
      reply.type('text/html; charset=utf-8').send(problemsPage(linksOf(request))),
    );
    pages.get('/problems/:reason', async (request, reply) => {
      const { reason } = request.params as { reason: string };
      if (!Object.hasOwn(reasons, reason)) throw new Problem('route_not_found');
      return reply.type('text/html; charset=utf-8').send(problemPage(reason as Reason, linksOf(request)));
    });
  });
}
