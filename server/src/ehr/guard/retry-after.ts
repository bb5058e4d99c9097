/**
 * The seconds that a `Retry-After` header asks for, given in seconds or as a date (RFC 9110 section 10.2.3).
 * `undefined` for anything else.
 */
export function retryAfterSeconds(value: string | undefined, now = Date.now()): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const date = /GMT$|^\w+ \w+ +\d/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}

/**
 * The seconds until the last of the quotas that are used up has something left, as a `RateLimit` field tells it:
 * `"requests";r=57121;t=27, "searches";r=0;t=40` (draft-ietf-httpapi-ratelimit-headers). `undefined`: none is used up, or
 * the server does not say until when.
 */
export function quotaSeconds(value: string | undefined): number | undefined {
  const seconds = (value ?? '').split(',').flatMap((quota) => {
    const [, remaining] = /;\s*r=(\d+)/.exec(quota) ?? [];
    const [, reset] = /;\s*t=(\d{1,9})/.exec(quota) ?? [];
    return remaining === '0' && reset !== undefined ? [Number(reset)] : [];
  });
  return seconds.length === 0 ? undefined : Math.max(...seconds);
}
