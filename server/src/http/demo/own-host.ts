import { isLoopback } from '../../config/rules/loopback.ts';

/**
 * Whether a `host` header names this machine. What the demo shows without credentials is only under such a name, which
 * prevents DNS rebinding: a page of another site cannot read it.
 */
export function isOwnHost(host: string | undefined): boolean {
  const name = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::\d{1,5})?$/i.exec(host ?? '');
  return name !== null && isLoopback(name[1] ?? name[2] ?? '');
}
