# SPDX-License-Identifier: LGPL-2.1-or-later
#
# bash completion for ucodectl: verbs, the options that the verb takes, and the values of those that have a few. Asks no daemon.

_ucodectl() {
        local -r verbs='status check explain apply cancel acknowledge windows processors stall history monitor inspect cat-config rules log-level'
        local -r common='--json= --root= --no-ask-password --no-legend --no-pager --quiet --help --version'
        local -r flags='ignore-schedule ignore-load ignore-inhibitors ignore-hold ignore-trust despite-prediction ignore-health'
        local -rA own=(
                [explain]='--now --force= --dry-run'
                [apply]='--now --force= --dry-run --wait'
                [windows]='--next= --after= --check='
                [stall]='--per-cpu --sort= --svg='
                [history]='--lines='
                [inspect]='--for='
        )
        local current=${COMP_WORDS[COMP_CWORD]} previous='' verb='' word option='' i

        # "=" is a word of its own to readline
        [ "$COMP_CWORD" -gt 0 ] && previous=${COMP_WORDS[COMP_CWORD - 1]}
        if [ "$current" = = ]; then
                option=$previous current=''
        elif [ "$previous" = = ]; then
                option=${COMP_WORDS[COMP_CWORD - 2]}
        elif [[ $current == --*=* ]]; then
                option=${current%%=*} current=${current#*=}
        elif [[ $previous == --root || $previous == --force || $previous == --sort || $previous == --svg ]]; then
                option=$previous
        fi

        for ((i = 1; i < COMP_CWORD; i++)); do
                word=${COMP_WORDS[i]}
                [[ $word == [a-z]* && ${COMP_WORDS[i - 1]} != = ]] || continue
                [[ " $verbs " == *" $word "* ]] && verb=$word && break
        done

        COMPREPLY=()
        case $option in
        --json) mapfile -t COMPREPLY < <(compgen -W 'pretty short off' -- "$current") ;;
        --sort) mapfile -t COMPREPLY < <(compgen -W 'cpu entry cluster' -- "$current") ;;
        --svg) mapfile -t COMPREPLY < <(compgen -f -- "$current") && compopt -o filenames 2>/dev/null ;;
        --root) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
        --force)
                # a list by commas: what stands before the last one stays
                local before=''
                [[ $current == *,* ]] && before=${current%,*},
                mapfile -t COMPREPLY < <(compgen -P "$before" -W "$flags" -- "${current##*,}")
                compopt -o nospace 2>/dev/null
                ;;
        esac
        [ -n "$option" ] && return

        if [[ $current == -* ]]; then
                mapfile -t COMPREPLY < <(compgen -W "${own[${verb:-none}]-} $common" -- "$current")
                # without a verb any verb's option may be meant
                if [ -z "$verb" ]; then
                        mapfile -t COMPREPLY < <(compgen -W "$common ${own[*]}" -- "$current" | sort -u)
                fi
                [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
                return 0
        fi
        case $verb in
        '') mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$current") ;;
        inspect) mapfile -t COMPREPLY < <(compgen -f -- "$current") && compopt -o filenames 2>/dev/null ;;
        log-level) mapfile -t COMPREPLY < <(compgen -W 'emerg alert crit err warning notice info debug' -- "$current") ;;
        esac
        return 0
}

complete -F _ucodectl ucodectl
