import { autocompletion, type CompletionContext, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers } from '@codemirror/view';
import { type RefObject, useEffect, useImperativeHandle, useRef } from 'react';
import { EDITOR_LOOK } from './editor-look.ts';
import { descriptionAt, type JsonSchema, optionsAt } from './schema-options.ts';
import { placeAt } from './yaml-place.ts';

export interface EditorProblem {
  /** From 1; null for the document as a whole. */
  readonly line: number | null;
  readonly column: number | null;
  readonly text: string;
}

export interface EditorHandle {
  /** Puts the cursor there and shows it. */
  readonly goTo: (line: number) => void;
}

interface EditorProps {
  readonly label: string;
  readonly text: string;
  readonly change?: (text: string) => void;
  readonly schema: JsonSchema | undefined;
  readonly problems: readonly EditorProblem[];
  readonly isReadOnly: boolean;
  readonly handle?: RefObject<EditorHandle | null>;
}

/** The document in an editor that knows its schema. A chunk of its own, loaded with its page. */
export function Editor({ label, text, change, schema, problems, isReadOnly, handle }: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const latest = useRef<Latest>({ schema, text });
  latest.current = { schema, text, ...(change && { change }) };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once; what changes is given to it below.
  useEffect(() => {
    if (place.current === null) return undefined;
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({ doc: text, extensions: extensionsOf(label, isReadOnly, latest) }),
    });
    // What scrolls must be reachable by keyboard, also where it cannot be edited.
    made.scrollDOM.tabIndex = 0;
    view.current = made;
    return () => made.destroy();
  }, [label, isReadOnly]);
  useEffect(() => {
    const current = view.current;
    if (current === null || current.state.doc.toString() === text) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: text } });
  }, [text]);
  useEffect(() => {
    const current = view.current;
    if (current !== null) current.dispatch(setDiagnostics(current.state, problems.map(diagnosticIn(current.state))));
  }, [problems]);
  useImperativeHandle(handle, () => ({
    goTo: (line) => {
      const current = view.current;
      if (current === null) return;
      const { from } = current.state.doc.line(Math.min(Math.max(line, 1), current.state.doc.lines));
      current.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
      current.focus();
    },
  }));
  return <div ref={place} className="editor" />;
}

type Latest = Pick<EditorProps, 'change' | 'schema' | 'text'>;

function extensionsOf(label: string, isReadOnly: boolean, latest: RefObject<Latest>): Extension {
  return [
    EditorView.cspNonce.of(document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''),
    // In the order of Tab also where nothing can be written: what scrolls must be reachable.
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    EditorState.readOnly.of(isReadOnly),
    EditorState.tabSize.of(2),
    indentUnit.of('  '),
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    yaml(),
    EDITOR_LOOK,
    autocompletion({ override: [(context) => complete(context, latest.current.schema)], icons: false }),
    hoverTooltip((view, offset) => explain(view, offset, latest.current.schema)),
    // Tab leaves the editor, as everywhere on a page; Mod-] indents.
    keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, ...searchKeymap, ...foldKeymap]),
    EditorView.updateListener.of((update) => {
      const typed = update.docChanged ? update.state.doc.toString() : latest.current.text;
      // What the page itself has put in is no change of the reader's.
      if (typed !== latest.current.text) latest.current.change?.(typed);
    }),
  ];
}

function complete(context: CompletionContext, schema: JsonSchema | undefined) {
  const text = context.state.doc.toString();
  const place = placeAt(text, context.pos);
  if (schema === undefined || place === undefined) return null;
  // On an empty line the list would be in the way of Enter and the arrows.
  if (place.word === '' && !place.isValue && !context.explicit) return null;
  const options = optionsAt(schema, place, text).map(({ label, kind, detail, about, apply }) => ({
    label,
    detail,
    apply,
    type: kind === 'key' ? 'property' : 'enum',
    ...(about === '' ? {} : { info: about }),
  }));
  return { from: context.pos - place.word.length, options, validFor: /^[\w./-]*$/ };
}

/** What the field under the pointer is for. */
function explain(view: EditorView, offset: number, schema: JsonSchema | undefined) {
  const line = view.state.doc.lineAt(offset);
  const [, lead = '', key] = /^([\s-]*)(\w+):/.exec(line.text) ?? [];
  const start = line.from + lead.length;
  if (schema === undefined || key === undefined || offset < start || offset > start + key.length) return null;
  const place = placeAt(view.state.doc.toString(), start);
  const about = place && descriptionAt(schema, [...place.path, key]);
  if (about === undefined) return null;
  const create = () => {
    const dom = document.createElement('div');
    dom.textContent = about;
    return { dom };
  };
  return { pos: start, end: start + key.length, create };
}

function diagnosticIn({ doc }: EditorState) {
  return ({ line, column, text }: EditorProblem): Diagnostic => {
    const at = doc.line(Math.min(Math.max(line ?? 1, 1), doc.lines));
    const from = Math.min(at.from + Math.max((column ?? 1) - 1, 0), at.to);
    return { from, to: at.to, severity: 'error', message: text };
  };
}
