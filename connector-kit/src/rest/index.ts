// The schemas of `readRecord` and `ofCareUnits`. A connector needs no dependency of its own for them.
export { type Static, type TSchema, Type } from 'typebox';
export * from './care-units.ts';
export * from './change-feed.ts';
export * from './changeable.ts';
export * from './directory.ts';
export * from './json-client.ts';
export * from './kept-lists.ts';
export * from './local-dates.ts';
export * from './newest-first.ts';
export * from './one-change.ts';
export * from './open-ehr.ts';
export * from './order.ts';
export * from './probe-steps.ts';
export * from './read-each.ts';
export * from './records.ts';
export * from './server-url.ts';
export * from './sessions.ts';
export * from './stands-alone.ts';
