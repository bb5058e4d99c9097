import { parseCookie, stringifySetCookie } from 'cookie';
import type { PageContext } from '../frame/page.ts';

/**
 * The session's token; what the token of the sign-in form is made from; the state of a sign-in with OpenID Connect; the
 * accounts that have signed in with this browser.
 */
type CookieName = 'console' | 'sign-in' | 'oidc' | 'browser';

type Context = Pick<PageContext, 'request' | 'cookies'>;

export function readCookies(header: string): PageContext['cookies'] {
  return parseCookie(header);
}

export function cookieOf(context: Context, name: CookieName): string | undefined {
  return context.cookies[fullName(context, name)];
}

/**
 * A `set-cookie` header for the browser's session, or for `seconds`. An empty value deletes the cookie. A link in a chat and the redirect of
 * a provider need `Lax`: they come from another site. Forms of other sites do not get it.
 */
export function setCookie(context: Context, name: CookieName, value: string, seconds?: number): string {
  return stringifySetCookie({
    name: fullName(context, name),
    value,
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: isSecure(context),
    ...(seconds !== undefined && { maxAge: seconds }),
    ...(value === '' && { maxAge: 0 }),
  });
}

/** Whether cookies are sent with TLS only. Without TLS, only a loopback address is allowed. */
function isSecure({ request }: Context): boolean {
  return request.url.protocol === 'https:';
}

/** `__Host-`: other hosts of the domain cannot set it (RFC 6265bis). Browsers allow the prefix with TLS only. */
function fullName(context: Context, name: CookieName): string {
  return `${isSecure(context) ? '__Host-' : ''}crossward-${name}`;
}
