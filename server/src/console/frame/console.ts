import { type Asset, createAsset } from '../../html/asset.ts';
import { html } from '../../html/html.ts';
import { readStyle } from '../../html/read-style.ts';
import { includesRole, type Role } from '../accounts/roles.ts';
import { SessionEnded } from '../audit/act.ts';
import { cookieOf, readCookies } from '../sign-in/cookies.ts';
import { ensureDemoOperator } from '../sign-in/demo-operator.ts';
import { isFormToken, type Session, useSession } from '../sign-in/sessions.ts';
import { consolePage, plainPage } from './frame.ts';
import {
  type ConsoleParts,
  type ConsoleRequest,
  type ConsoleResponse,
  linkTo,
  type PageContext,
  type Route,
  type SignedIn,
  seeOther,
} from './page.ts';
import { notice } from './parts.ts';

export interface Console {
  readonly style: Asset;
  handle(route: Route, request: ConsoleRequest): Promise<ConsoleResponse>;
  /** A page with an error: `depth` as in `PageContext`. A page that does not exist has the navigation of its operator. */
  message(
    request: ConsoleRequest,
    depth: number,
    error: { readonly status: number; readonly title: string; readonly text: string },
  ): Promise<ConsoleResponse>;
}

/** Creates the console with the first request, because most gateways run without anybody who opens it. */
export async function createConsole({ configuration, ...parts }: ConsoleParts): Promise<Console> {
  const style = createAsset(Buffer.from(readStyle(new URL('./style.css', import.meta.url))), 'css');
  await ensureDemoOperator(parts.services, parts.settings);

  const contextOf = (request: ConsoleRequest, depth: number): PageContext => ({
    deps: { ...parts, ...configuration() },
    request,
    cookies: readCookies(request.cookieHeader),
    style: style.name,
    depth,
  });

  async function sessionOf(context: PageContext): Promise<Session | undefined> {
    const token = cookieOf(context, 'console');
    return token === undefined ? undefined : useSession(parts.services, token, parts.settings);
  }

  async function handle(route: Route, request: ConsoleRequest): Promise<ConsoleResponse> {
    const { method, path } = route;
    const context = contextOf(request, depthOf(path));
    if (route.role === 'public') {
      const cookie = cookieOf(context, 'sign-in');
      const isOwn = route.isOfDemo ? isSameOrigin(request) : isOwnForm(request, cookie);
      if (method === 'POST' && !isOwn) return rejectedForm(context);
      return route.page(context);
    }
    const session = await sessionOf(context);
    if (!session) return toSignIn(context, route);
    if (method === 'POST' && !isOwnForm(request, session.token)) return rejectedForm(context);
    const signedIn: SignedIn = { ...context, session };
    if (!includesRole(session.role, route.role)) return forbidden(signedIn, route.role);
    return route.page(signedIn).catch((error: unknown) => {
      if (error instanceof SessionEnded) return toSignIn(context, route);
      throw error;
    });
  }

  return {
    style,
    handle,
    async message(request, depth, { status, title, text }) {
      const context = contextOf(request, depth);
      const content = html`<h1>${title}</h1><p>${text}</p><p><a href="${linkTo(context, '')}">Go to the console</a></p>`;
      // Others are sent when the gateway or its database has too much to do already.
      const session = status === 404 ? await sessionOf(context) : undefined;
      return session
        ? consolePage({ ...context, session }, { title, status, content })
        : plainPage(context, { title, status, content });
    },
  };
}

/** How many folders a path is below `/console`. */
function depthOf(path: string): number {
  return path === '' ? 0 : path.split('/').length;
}

/** A form that a page of the console has sent: from the same origin, and with the token that only this browser got. */
function isOwnForm(request: ConsoleRequest, cookie: string | undefined): boolean {
  return isSameOrigin(request) && cookie !== undefined && isFormToken(cookie, request.form.get('form_token') ?? '');
}

function isSameOrigin({ origin, fetchSite, url }: ConsoleRequest): boolean {
  return fetchSite === undefined ? origin === url.origin : fetchSite === 'same-origin';
}

function rejectedForm(context: PageContext): ConsoleResponse {
  return plainPage(context, {
    title: 'The form was not accepted',
    status: 403,
    content: html`${notice('bad', 'Nothing was changed: the form is out of date, or another site has sent it.')}
<h1>The form was not accepted</h1>
<p>Open the page again and repeat what you did. If it happens again, allow cookies for this site.</p>
<p><a href="${linkTo(context, '')}">Go to the console</a></p>`,
  });
}

async function toSignIn(context: PageContext, { method, path }: Route): Promise<ConsoleResponse> {
  const { request } = context;
  if (path === 'sign-out') return seeOther(context, 'sign-in');
  const wanted = method === 'GET' ? path.replace(/:(\w+)/g, (_, key: string) => request.params[key] ?? '') : '';
  const response = seeOther(context, method === 'POST' ? 'sign-in?result=expired' : 'sign-in');
  return wanted === ''
    ? response
    : { ...response, location: `${response.location}?next=${encodeURIComponent(wanted)}` };
}

async function forbidden(context: SignedIn, needed: Role): Promise<ConsoleResponse> {
  return consolePage(context, {
    title: 'Not allowed',
    status: 403,
    content: html`<h1>Not allowed</h1>
<p>This needs the role <strong>${needed}</strong>. You have the role <strong>${context.session.role}</strong>.</p>
<p>Ask whoever manages the operators of this gateway.</p>`,
  });
}
