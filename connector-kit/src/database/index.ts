export * from './grouped.ts';
export * from './statement.ts';
