import { documentContentTypes } from '@crossward/connector-kit';
import Type, { type Static } from 'typebox';
import { nextCursor, pagingQuery } from '../api/paging.ts';
import { choice, nullableInteger, nullableString, reference, resourceNotation } from '../api/schemas.ts';

export const documentSchema = Type.Object(
  {
    id: Type.String(),
    patient_id: Type.String({ description: 'As `emr_id:{value}`.' }),
    created_at: Type.String({ format: 'date-time', description: "RFC 3339, with the care unit's UTC offset." }),
    author_id: nullableString({ description: 'As `emr_id:{value}`. Null if the EHR does not name an author.' }),
    title: nullableString(),
    content_type: Type.String({ description: 'Media type, as recorded in the EHR.' }),
    size: nullableInteger({ description: 'Size of the content in bytes. Null if the EHR does not know it.' }),
  },
  {
    $id: 'Document',
    description: 'A document of a patient, stored at the care unit. `get_document_content` returns its content.',
  },
);
export type DocumentBody = Static<typeof documentSchema>;

export const documentsSchema = Type.Object({
  documents: Type.Array(reference<DocumentBody>('Document')),
  next_cursor: nextCursor,
});

export const documentsQuery = pagingQuery;

const contentTypeText = 'Media type of the content. Must be the type that the first bytes of the content show.';
const creationFields = {
  title: Type.Optional(
    Type.String({
      format: 'document-title',
      minLength: 1,
      maxLength: 200,
      description: 'Title: one line that is not a path.',
    }),
  ),
  author_id: Type.Optional(resourceNotation('A practitioner of the care unit. ')),
};

export const documentCreationSchema = Type.Object(
  {
    ...creationFields,
    content_type: choice(documentContentTypes, { description: contentTypeText }),
    content: Type.String({
      contentEncoding: 'base64',
      description: 'The content in base64 (RFC 4648 section 4). Larger content is sent as `multipart/form-data`.',
    }),
  },
  { $id: 'DocumentCreation', additionalProperties: false },
);

export const documentFormSchema = Type.Object(
  {
    ...creationFields,
    content_type: Type.Optional(
      choice(documentContentTypes, {
        description: `${contentTypeText} Default: the media type of the part \`content\`.`,
      }),
    ),
    content: Type.String({
      format: 'binary',
      contentMediaType: 'application/octet-stream',
      description: 'The content, as a file part.',
    }),
  },
  { $id: 'DocumentForm', additionalProperties: false },
);
