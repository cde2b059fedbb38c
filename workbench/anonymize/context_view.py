"""Form for the context of an anonymized table, which the report to sign shows."""

import streamlit as st

from workbench.anonymize.context import CONTEXT_FIELDS, MAX_CHARACTERS
from workbench.language.messages import _, translate_table
from workbench.language.wording import number


def ask_context(statements: dict[str, str]) -> None:
    """Show one optional field for each statement; store what is typed in `statements`."""
    with st.expander(_("Context for the report to sign (optional)")):
        st.caption(
            _(
                "Printed in the order of ISO/IEC 27559 and of the ICO's guidance. An "
                "empty field is printed as “not stated”."
            )
        )
        for key, title in translate_table(CONTEXT_FIELDS).items():
            statements[key] = st.text_area(
                title, statements.get(key, ""), height=68, key=f"context-{key}"
            )
            if len(statements[key]) > MAX_CHARACTERS:
                st.warning(
                    _(
                        "Only the first {most} of {number} characters are printed."
                    ).format(
                        most=number(MAX_CHARACTERS), number=number(len(statements[key]))
                    )
                )
