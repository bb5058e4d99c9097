import { sandboxConnector } from '@crossward/connector-sandbox';
import { rebooking, withoutTransactions } from '../ehrs/limited-ehrs.ts';
import { rebookingEmr } from './rebooking-emr.ts';

/* A part of a preload: the EHR with this id cannot move appointments, and has no transactions. */

const { open } = sandboxConnector;
Object.assign(sandboxConnector, {
  async open(context: Parameters<typeof open>[0]) {
    const connector = await open(context);
    return context.emr === rebookingEmr ? withoutTransactions(rebooking(connector)) : connector;
  },
});
