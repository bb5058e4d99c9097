/**
 * The seconds to wait according to a `Retry-After` header, which is a number of seconds or a date (RFC 9110 section
 * 10.2.3). Returns `undefined` for any other value.
 */
export function retryAfterSeconds(value: string | undefined, now = Date.now()): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const date = /GMT$|^\w+ \w+ +\d/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}

/**
 * The seconds until all exhausted quotas of a `RateLimit` header are reset, such as
 * `"requests";r=57121;t=27, "searches";r=0;t=40` (draft-ietf-httpapi-ratelimit-headers). Returns `undefined` if no quota
 * is exhausted or the reset time is missing.
 */
export function quotaSeconds(value: string | undefined): number | undefined {
  const seconds = (value ?? '').split(',').flatMap((quota) => {
    const [, remaining] = /;\s*r=(\d+)/.exec(quota) ?? [];
    const [, reset] = /;\s*t=(\d{1,9})/.exec(quota) ?? [];
    return remaining === '0' && reset !== undefined ? [Number(reset)] : [];
  });
  return seconds.length === 0 ? undefined : Math.max(...seconds);
}
