import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The editor in the colours of the design language; CodeMirror takes styles as data only. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--series-1)', fontWeight: '600' },
  { tag: [tags.string, tags.content], color: 'inherit' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--series-4)' },
  { tag: tags.comment, color: 'var(--soft)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: 'var(--soft)' },
]);

const THEME = EditorView.theme({
  '&': { fontSize: '0.8125rem', height: '65vh', color: 'inherit' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '1.6', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--mantine-color-text)' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-gutters': { background: 'var(--ground)', color: 'var(--soft)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'color-mix(in srgb, var(--soft) 10%, transparent)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in srgb, var(--series-1) 28%, transparent) !important',
  },
  '.cm-tooltip': {
    background: 'var(--paper)',
    color: 'inherit',
    border: '1px solid var(--line)',
    borderRadius: '9px',
    padding: '4px 8px',
    maxWidth: '26rem',
    boxShadow: '0 6px 20px rgb(0 0 0 / 15%)',
  },
  '.cm-tooltip-autocomplete': { padding: '4px' },
  '.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px', borderRadius: '6px' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { background: 'var(--ground)', color: 'inherit' },
  '.cm-completionDetail': { color: 'var(--soft)', fontStyle: 'normal', marginLeft: '1em' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '650' },
  '.cm-panels': { background: 'var(--ground)', color: 'inherit', borderColor: 'var(--line)' },
  '.cm-foldPlaceholder': { background: 'var(--ground)', border: '1px solid var(--line)', color: 'var(--soft)' },
});

export const EDITOR_LOOK: Extension = [THEME, syntaxHighlighting(COLOURS)];
