import type { ConsoleSettings } from '../config/console-settings.ts';
import { isOwnHost } from './demo/own-host.ts';

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
