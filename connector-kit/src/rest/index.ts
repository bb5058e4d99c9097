export * from './change-feed.ts';
export * from './kept-lists.ts';
export * from './local-dates.ts';
export * from './one-change.ts';
export * from './order.ts';
export * from './probe-steps.ts';
export * from './sessions.ts';
export * from './stands-alone.ts';
