import { resourceKinds } from '@crossward/connector-kit';
import Type from 'typebox';
import { nextCursor } from '../api/paging.ts';
import { choice, reference } from '../api/schemas.ts';

export const resourceSchema = Type.Object(
  {
    id: Type.String({ description: 'Internal identifier of the EHR, without a prefix.' }),
    identifiers: Type.Array(Type.String(), { description: 'Every identifier known, in Resource ID notation.' }),
    kind: choice(resourceKinds),
    name: Type.String(),
    healthcare_service_ids: Type.Array(Type.String(), { description: 'What can be booked with it.' }),
  },
  { $id: 'Resource', description: 'Whoever or whatever an appointment is with.' },
);

export const resourceListSchema = Type.Object({
  resources: Type.Array(reference('Resource')),
  next_cursor: nextCursor,
});
