import { visibleParts } from './visible.ts';

/** Text from outside: nothing in it is hidden, turned around, or taken for markup. */
export function Plain({ text }: { readonly text: string }) {
  return (
    <bdi dir="ltr">
      {visibleParts(text).map((part, at) =>
        typeof part === 'string' ? (
          part
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no other name
          <span key={at} className="hidden-character" title="A character that cannot be seen">
            {part.codePoint}
          </span>
        ),
      )}
    </bdi>
  );
}
