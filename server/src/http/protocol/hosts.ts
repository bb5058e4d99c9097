import type { ConsoleSettings } from '../../config/console-settings.ts';
import { isLoopback } from '../../config/rules/loopback.ts';

/**
 * Whether a `host` header names this machine. What the demo shows without credentials is only under such a name, which
 * prevents DNS rebinding: a page of another site cannot read it.
 */
export function isOwnHost(host: string | undefined): boolean {
  const name = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::\d{1,5})?$/i.exec(host ?? '');
  return name !== null && isLoopback(name[1] ?? name[2] ?? '');
}

/**
 * The URL below which operators reach the console, if a request names its host. In the demo any name of this machine
 * counts: a page of another site then cannot reach it under its own (DNS rebinding).
 */
export function consoleUrl({ url }: Pick<ConsoleSettings, 'url'>, host: string): string | undefined {
  if (url !== undefined) return host.toLowerCase() === new URL(url).host ? url : undefined;
  const own = `http://${host}`;
  // A port can be too large.
  return isOwnHost(host) && URL.canParse(own) ? own : undefined;
}

/** Whether the `Host` header is that of the pages for patients, and the console has another one. */
export function isPublicHost(
  urls: { readonly publicUrl: string | undefined; readonly consoleUrl: string | undefined },
  header: string | undefined,
): boolean {
  const { publicUrl, consoleUrl = publicUrl } = urls;
  if (publicUrl === undefined || consoleUrl === undefined) return false;
  return header?.toLowerCase() === new URL(publicUrl).host && new URL(publicUrl).host !== new URL(consoleUrl).host;
}
