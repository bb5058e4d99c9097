import type { FastifyReply, FastifyRequest } from 'fastify';
import { html } from '../../html/html.ts';
import { asksForHtml } from '../protocol/accept.ts';
import { pageFrame } from './frame.ts';
import type { PageLink } from './links.ts';

const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The links of a page that says that nothing is here, if a person asks for it in a browser. */
export function linksIfBrowser(request: FastifyRequest): readonly PageLink[] | undefined {
  return asksForHtml(request.headers.accept) ? request.server.pageLinks?.(request) : undefined;
}

export function sendNotFoundPage(links: readonly PageLink[], reply: FastifyReply): FastifyReply {
  const page = pageFrame({
    title: 'Not found',
    links,
    content: html`<h1>Nothing is here</h1>
<p>This gateway has no page at this address. These pages exist:</p>
<ul>
<li><a href="/">Start</a></li>
${links.map(({ title, path, about }) => html`<li><a href="${path}">${title}</a>: ${about}</li>\n`)}</ul>
<p class="quiet">Programs get a problem document here: <a href="/problems/route_not_found"><code>route_not_found</code></a>.</p>`,
  });
  return reply
    .code(404)
    .headers({ 'content-security-policy': contentSecurityPolicy, 'cache-control': 'no-store', vary: 'accept' })
    .type('text/html; charset=utf-8')
    .serializer(String)
    .send(page);
}
