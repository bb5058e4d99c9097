import type { FastifyInstance } from 'fastify';
import { createAsset } from '../../html/asset.ts';
import { readStyle } from '../../html/read-style.ts';
import { Problem } from '../../problems/problem.ts';
import type { Allowances } from './html-pages.ts';

const [console, own] = ['../../console/frame/style.css', './style.css'].map((path) => new URL(path, import.meta.url));
const style = createAsset(Buffer.from(readStyle(console as URL, own as URL)), 'css');

/** The style sheet of the pages for developers: that of the console, and what only they have. */
export const stylePath = `/assets/${style.name}`;

/** What the pages for developers load. */
export const pageAllowances: Allowances = { 'style-src': ["'self'"], 'img-src': ['data:'] };

export function addPageStyle(app: FastifyInstance): void {
  app.get<{ Params: { name: string } }>('/assets/:name', async ({ params: { name } }, reply) => {
    if (name !== style.name) throw new Problem('route_not_found');
    return reply.header('cache-control', 'public, max-age=31536000, immutable').type(style.type).send(style.content);
  });
}
